// Package native calls a library from Go, in a process of its own that serves the suite over pipes.
package native
