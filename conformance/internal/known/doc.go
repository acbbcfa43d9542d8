// Package known reads lists of what is expected to fail.
package known
