// Package batching has the checks of vmap and of loops: an op over the slices of its arguments.
package batching
