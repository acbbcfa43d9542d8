// Package stacks tells where the threads of another process are, in the words of native code: which function of a library
// does not return.
//
// It stops each thread for a moment, as a debugger does, and reads its registers and its stack. The process needs to help
// with nothing, so this works for any program that hangs, in any language. There is no unwinding: a word on the stack counts
// as a return address if it points behind an instruction that calls the function which runs then, or any function. Now and
// then such a word is a remnant of a call that has returned; and a function is missing if what it called has jumped to
// another one.
package stacks
