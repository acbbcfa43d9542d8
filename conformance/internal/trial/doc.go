// Package trial makes one call of an op, with inputs that a person asked for, and the answer of its reference.
package trial
