// Package agreement has the checks that compare callers with each other: bits, errors, signatures, streams.
package agreement
