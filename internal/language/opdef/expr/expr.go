// Package expr is the expression language of definitions: sizes such as "2*N + 1", and conditions such as
// "T == bf16 and N % 8 == 0".
//
// Parse turns a text into a tree. Eval and EvalFloat compute its value, EvalCondition decides a condition as far as its names
// are known, and Linear solves for a name.
package expr

import "slices"

// Op is the operator of an expression node.
type Op string

// These are the operators. Comparison and logic appear only in the keys require and when.
const (
	OpConst    Op = "const" // The number is in Value.
	OpFloat    Op = "float" // The number is in Float.
	OpSymbol   Op = "symbol"
	OpIndex    Op = "index" // Name[Args[0]] is an element of a list.
	OpNeg      Op = "neg"
	OpAdd      Op = "+"
	OpSub      Op = "-"
	OpMul      Op = "*"
	OpFloorDiv Op = "//"
	OpMod      Op = "%"
	OpPow      Op = "**"
	OpMin      Op = "min"
	OpMax      Op = "max"
	OpCeilDiv  Op = "ceildiv"
	OpSum      Op = "sum"
	OpLen      Op = "len"
	OpAligned  Op = "aligned" // aligned(Name, Args[0]) asks whether an array begins at a multiple of so many bytes.
	OpEq       Op = "=="
	OpNe       Op = "!="
	OpLt       Op = "<"
	OpLe       Op = "<="
	OpGt       Op = ">"
	OpGe       Op = ">="
	OpAnd      Op = "and"
	OpOr       Op = "or"
	OpNot      Op = "not"
	OpText     Op = "text" // a string in quotes, or the name of a dtype: see Word
	OpIf       Op = "if"   // Args[1] if Args[0] else Args[2]
)

// Expr is a node of an expression over sizes, attrs and let names.
type Expr struct {
	Op Op
	// Value is the number of an OpConst, Float that of an OpFloat.
	Value int64
	Float float64
	// Name is what an OpSymbol, OpIndex, OpSum, OpLen or OpAligned refers to.
	Name string
	// Word is the string of an OpText.
	Word string
	// Args are the operands.
	Args []*Expr
	// Text is the node as the author wrote it, with every run of white space as one space. Messages quote it.
	Text string
	// Col is the byte offset of the node in its string, for diagnostics.
	Col int
}

// Equal says whether two expressions compute the same in the same way, however they are written. Either may be nil.
func Equal(a, b *Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Op == b.Op && a.Value == b.Value && a.Float == b.Float && a.Name == b.Name && a.Word == b.Word &&
		slices.EqualFunc(a.Args, b.Args, Equal)
}
