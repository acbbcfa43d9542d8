// Package transforms has the checks of ops that a framework compiles, exports or inspects, and what all checks of
// transformations share.
//
// What a transformed op must give is computed from calls of the bare backend.
package transforms
