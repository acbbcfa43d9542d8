// Package memory has the checks of where arrays lie: strides, alignment, overwritten inputs, out=, scratch.
package memory
