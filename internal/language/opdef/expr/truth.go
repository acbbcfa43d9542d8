package expr

// Truth is what is known of a condition when some of its names have no value yet. The values are those of three-valued
// logic and are ordered: "and" is the smaller of its sides, "or" the greater, and "not" the negative.
type Truth int

const (
	// KnownFalse means that the condition does not hold, whatever the unknown names stand for.
	KnownFalse Truth = iota - 1
	// Undecided means that the condition depends on names that have no value yet.
	Undecided
	// KnownTrue means that the condition holds, whatever the unknown names stand for.
	KnownTrue
)

// EvalCondition evaluates a condition as far as it can be decided. The dtypes are the short names that dtype variables
// stand for, and env has the sizes and attributes that are known. With a nil env only comparisons of dtypes are decided.
func (e *Expr) EvalCondition(dtypes map[string]string, env Env) Truth {
	switch e.Op {
	case OpAnd:
		return min(e.Args[0].EvalCondition(dtypes, env), e.Args[1].EvalCondition(dtypes, env))
	case OpOr:
		return max(e.Args[0].EvalCondition(dtypes, env), e.Args[1].EvalCondition(dtypes, env))
	case OpNot:
		return -e.Args[0].EvalCondition(dtypes, env)
	case OpEq, OpNe:
		if a, b, ok := e.dtypes(dtypes); ok {
			return truthOf((a == b) == (e.Op == OpEq))
		}
	}
	if env == nil {
		return Undecided
	}
	v, err := e.Eval(env)
	if err != nil {
		return Undecided
	}
	return truthOf(v != 0)
}

func truthOf(b bool) Truth {
	if b {
		return KnownTrue
	}
	return KnownFalse
}

// dtypes are the two sides of a comparison of dtypes, as short names. The result ok is false where neither is a variable.
func (e *Expr) dtypes(of map[string]string) (a, b string, ok bool) {
	side := func(arg *Expr) string {
		if of[arg.Name] != "" && arg.Op == OpSymbol {
			ok = true
			return of[arg.Name]
		}
		return arg.Word + arg.Name // one of them is empty
	}
	a, b = side(e.Args[0]), side(e.Args[1])
	return a, b, ok
}
