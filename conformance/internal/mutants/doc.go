// Package mutants plants small errors into a copy of a collection, one at a time, and says which of them the suite notices.
package mutants
