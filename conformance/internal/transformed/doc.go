// Package transformed makes calls that a framework transforms, sends them, and says what they have to give, which is computed
// from calls of the bare backend.
package transformed
