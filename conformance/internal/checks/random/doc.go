// Package random has the checks that make calls at random, valid and invalid ones, and shrink what fails.
package random
