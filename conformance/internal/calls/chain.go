package calls

import "context"

// Chainer calls two frameworks in one process.
type Chainer interface {
	// Frameworks are the adaptors that it can call.
	Frameworks() []string
	// Chain calls the op in the first framework, hands one of its results over through DLPack as an input of a second
	// call in the second framework, and returns that call's result and the addresses of the handed-over array on both
	// sides.
	Chain(ctx context.Context, call *Call, link ChainLink, first, second string) (result *Result, from, to uint64, err error)
}

// ChainLink says which result of a call, by its slot and by its place in a public result, becomes which input of the next.
type ChainLink struct{ Slot, Result, Feed int }
