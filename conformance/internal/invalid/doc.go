// Package invalid makes calls that must be refused, and knows the class and the text of the error that each must raise.
//
// Each is a valid call with one Change. The rules of the definition say what may be changed so that it is wrong: the
// dtype of an argument, its rank, a size, its memory, an attribute, an output.
package invalid
