// Package transforms has the checks of ops that a framework compiles, exports or inspects.
package transforms
