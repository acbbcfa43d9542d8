package opdef

// ExprOp is the operator of an expression node.
type ExprOp string

// The operators. Comparison and logic appear only in require and when.
const (
	OpConst    ExprOp = "const" // Value
	OpFloat    ExprOp = "float" // Float
	OpSymbol   ExprOp = "symbol"
	OpIndex    ExprOp = "index" // Name[Args[0]]
	OpNeg      ExprOp = "neg"
	OpAdd      ExprOp = "+"
	OpSub      ExprOp = "-"
	OpMul      ExprOp = "*"
	OpFloorDiv ExprOp = "//"
	OpMod      ExprOp = "%"
	OpPow      ExprOp = "**"
	OpMin      ExprOp = "min"
	OpMax      ExprOp = "max"
	OpCeilDiv  ExprOp = "ceildiv"
	OpSum      ExprOp = "sum"
	OpLen      ExprOp = "len"
	OpAligned  ExprOp = "aligned" // aligned(arg, bytes)
	OpEq       ExprOp = "=="
	OpNe       ExprOp = "!="
	OpLt       ExprOp = "<"
	OpLe       ExprOp = "<="
	OpGt       ExprOp = ">"
	OpGe       ExprOp = ">="
	OpAnd      ExprOp = "and"
	OpOr       ExprOp = "or"
	OpNot      ExprOp = "not"
)

// Expr is a node of an expression over sizes, attrs and let names.
type Expr struct {
	Op    ExprOp
	Value int64
	Float float64
	Name  string
	Args  []*Expr
	// Text is the node as the author wrote it, with single spaces around binary operators of the lowest precedence;
	// messages quote it.
	Text string
	// Col is the byte offset of the node in its string, for diagnostics.
	Col int
}
