// Package values has the checks of the numbers that calls give, and of the shapes and dtypes of results.
package values
