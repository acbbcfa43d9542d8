package expr

import "fmt"

// compareOthers compares what are no integers: words, or numbers of floating point. The result ok is false where both
// sides are integers.
func (e *Expr) compareOthers(env Env) (value int64, err error, ok bool) {
	if e.Args[0].Op == OpText || e.Args[1].Op == OpText || e.Args[0].isWord(env) {
		value, err = e.compareWords(env)
		return value, err, true
	}
	if !e.Args[0].isReal(env) && !e.Args[1].isReal(env) {
		return 0, nil, false
	}
	a, err := e.Args[0].EvalFloat(env)
	if err != nil {
		return 0, err, true
	}
	b, err := e.Args[1].EvalFloat(env)
	if err != nil {
		return 0, err, true
	}
	value, err = compare(e.Op, a, b)
	return value, err, true
}

// compareWords compares strings and dtypes, which are equal or not.
func (e *Expr) compareWords(env Env) (int64, error) {
	var words [2]string
	for i, arg := range e.Args {
		word, ok := arg.Word, arg.Op == OpText
		if !ok && env != nil {
			word, ok = env.Word(arg.Name)
		}
		if !ok {
			return 0, fmt.Errorf("%s has no value", arg.Text)
		}
		words[i] = word
	}
	return asInt((words[0] == words[1]) == (e.Op == OpEq)), nil
}

// isWord says whether a name stands for a string or a dtype.
func (e *Expr) isWord(env Env) bool {
	if e.Op != OpSymbol || env == nil {
		return false
	}
	_, ok := env.Word(e.Name)
	return ok
}

// isReal says whether a side of a comparison is of floating point.
func (e *Expr) isReal(env Env) bool {
	real := e.Op == OpFloat
	if e.Op == OpSymbol && env != nil {
		_, real = env.Float(e.Name)
	}
	for _, arg := range e.Args {
		real = real || arg.isReal(env)
	}
	return real
}
