// Package code lists the codes of diagnostics, such as "E014", and explains them.
package code

// Every kind of mistake has one code, and every code an explanation. Codes are never reused.
const (
	Syntax      = "E001" // not TOML 1.0
	UnknownKey  = "E002"
	ValueType   = "E003" // a key's value has the wrong type
	NoDoc       = "E004"
	Missing     = "E005" // a required key other than doc
	Kind        = "E006" // kind out of range or used twice
	Retired     = "E007"
	Name        = "E008" // not a name
	Reserved    = "E009" // a name that Python, C++, a framework or generated code needs
	Duplicate   = "E010" // two things of one name
	DType       = "E011" // unknown dtype
	DTypeList   = "E012" // empty list of dtypes, or one given twice
	Type        = "E013" // type grammar
	Expr        = "E014" // expression grammar
	Symbol      = "E015" // unknown symbol
	Misuse      = "E016" // a known name that cannot stand here
	Unsolvable  = "E017" // a dim that no input determines
	Optional    = "E018" // bound only by an optional input, used elsewhere
	Order       = "E019" // optional before required
	AttrType    = "E020"
	Default     = "E021" // default of the wrong type
	Range       = "E022" // default outside its own range or list
	OneOf       = "E023"
	MinMax      = "E024" // min > max, or a bound that does not fit
	Binds       = "E025"
	DTypeVar    = "E026" // a dtype variable that nothing binds or uses
	Parallel    = "E027"
	Sums        = "E028"
	Mutated     = "E029" // mutated together with backward or forward
	Backward    = "E030" // backward or forward names no op
	Gradient    = "E031" // arguments of an op of gradients or tangents that do not fit its op
	PresentIf   = "E032"
	LSE         = "E033"
	Kernel      = "E034" // a variant's name, device or arch
	KernelDType = "E035"
	Uncovered   = "E036" // a dtype combination without a kernel
	Reference   = "E037" // reference missing or given twice
	RefText     = "E038" // the text of a reference
	Samples     = "E039"
	NoSample    = "E040" // samples that a require excludes altogether
	Tolerance   = "E041"
	Version     = "E042" // since, deprecated
	Leading     = "E043" // rules of "*", "..." and list
	Let         = "E044" // let names that need each other
	Constant    = "E045" // a constant expression without a value, or a negative dim
	NoArgs      = "E046" // an op without input or result
	File        = "E047" // unreadable, too large, or outside the project
	Manifest    = "E048" // a manifest value
	Choice      = "E049" // a value that is none of the allowed ones
	Path        = "E050" // a path or glob of the manifest
	Saved       = "E051" // a saved output where none can stand
	GradType    = "E052" // an op of gradients or tangents whose types do not fit its op
	GradLink    = "E053" // an op that cannot be a derivative, or not this one's
	KernelWork  = "E054" // a kernel's scratch where there is none
	Invisible   = "E055" // a control character or an invisible one in a text
	Workload    = "E056" // a workload that is no call of the op
	Valid       = "E057" // rows that something counts which cannot
	List        = "E058" // a list of arrays where there can be none
	Layer       = "E059" // a layer that cannot call the op
	Params      = "E060" // parameters of a kernel
	Tuned       = "E061" // what is no file of measured parameters
	Compilers   = "E062" // compilers of a kernel that do not fit its devices
	NoGrad      = "E063" // inputs without derivative that no_grad cannot name
	Parameters  = "E064" // an order of parameters that lacks an input, or names what is none
	OnlyWide    = "N001" // a note: an input that only has dtypes of 64 bits
	LSENote     = "N002" // a note: a log-sum-exp as an input whose convention no op of the collection gives
	TunedNote   = "N003" // a note: measured parameters that no longer fit the definitions
	NoRange     = "N004" // a note: integers that the op writes, of which nobody says how large they become

	// Of the build.
	NoKernel  = "B001" // a kernel without a definition in C++
	Undefined = "B002" // a symbol that nothing defines
	Exported  = "B003" // a symbol that should be hidden
	Needed    = "B004" // a library that users may lack
	NoHeaders = "B005" // headers that this machine lacks
	NoSource  = "B006" // a kernel for features of the CPU without a source of its own
	TooNew    = "B007" // something that older systems lack
)
