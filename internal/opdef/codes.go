package opdef

// The codes of this package's diagnostics. They are documented in docs/diagnostics.md and never reused.
const (
	codeSyntax      = "E001" // not TOML 1.0
	codeUnknownKey  = "E002"
	codeValueType   = "E003" // a key's value has the wrong type
	codeNoDoc       = "E004"
	codeMissing     = "E005" // a required key other than doc
	codeKind        = "E006" // kind out of range or used twice
	codeRetired     = "E007"
	codeName        = "E008" // not a name
	codeReserved    = "E009" // a name that Python, C++, a framework or generated code needs
	codeDuplicate   = "E010" // two things of one name
	codeDType       = "E011" // unknown dtype
	codeDTypeList   = "E012" // empty list of dtypes, or one given twice
	codeType        = "E013" // type grammar
	codeExpr        = "E014" // expression grammar
	codeSymbol      = "E015" // unknown symbol
	codeMisuse      = "E016" // a known name that cannot stand here
	codeUnsolvable  = "E017" // a dim that no input determines
	codeOptional    = "E018" // bound only by an optional input, used elsewhere
	codeOrder       = "E019" // optional before required
	codeAttrType    = "E020"
	codeDefault     = "E021" // default of the wrong type
	codeRange       = "E022" // default outside its own range or list
	codeOneOf       = "E023"
	codeMinMax      = "E024" // min > max, or a bound that does not fit
	codeBinds       = "E025"
	codeDTypeVar    = "E026" // a dtype variable that nothing binds or uses
	codeParallel    = "E027"
	codeSums        = "E028"
	codeMutated     = "E029" // mutated together with backward
	codeBackward    = "E030" // backward names no op
	codeGradient    = "E031" // arguments of a backward op that do not fit its forward op
	codePresentIf   = "E032"
	codeLSE         = "E033"
	codeKernel      = "E034" // a variant's name, device or arch
	codeKernelDType = "E035"
	codeUncovered   = "E036" // a dtype combination without a kernel
	codeReference   = "E037" // reference missing or given twice
	codeRefText     = "E038" // the text of a reference
	codeSamples     = "E039"
	codeNoSample    = "E040" // samples that a require excludes altogether
	codeTolerance   = "E041"
	codeVersion     = "E042" // since, deprecated
	codeLeading     = "E043" // rules of "*", "..." and list
	codeLet         = "E044" // let names that need each other
	codeConstant    = "E045" // a constant expression without a value, or a negative dim
	codeNoArgs      = "E046" // an op without input or result
	codeFile        = "E047" // unreadable, too large, or outside the project
	codeManifest    = "E048" // a manifest value
	codeChoice      = "E049" // a value that is none of the allowed ones
	codePath        = "E050" // a path or glob of the manifest
	codeSaved       = "E051" // a saved output where none can stand
	codeGradType    = "E052" // a gradient op whose types do not fit its forward op
	codeGradLink    = "E053" // an op that cannot be a gradient, or not this one's
)
