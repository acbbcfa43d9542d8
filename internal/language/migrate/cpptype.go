package migrate

import (
	"maps"
	"slices"
	"strings"
)

// scalarKinds are the types of C++ and of the frameworks' C++ that are one attribute, without namespaces.
var scalarKinds = map[string]Kind{
	"int": Int, "long": Int, "short": Int, "unsigned": Int, "signed": Int, "size_t": Int, "ssize_t": Int, "ptrdiff_t": Int,
	"int8_t": Int, "int16_t": Int, "int32_t": Int, "int64_t": Int, "uint8_t": Int, "uint16_t": Int, "uint32_t": Int, "uint64_t": Int,
	"SymInt": Int, "float": Float, "double": Float, "long double": Float, "Scalar": Float, "bool": Bool, "string": Str, "string_view": Str, "String": Str,
	"ScalarType": DType, "Dtype": DType, "DLDataType": DType,
	"cudaStream_t": Stream, "hipStream_t": Stream, "CUstream": Stream, "CUstream_st": Stream,
	"Tensor": Array, "TensorView": Array, "TensorBase": Array,
	"TensorList": List, "ITensorListRef": List, "IntArrayRef": Ints, "SymIntArrayRef": Ints, "Shape": Ints, "ShapeView": Ints,
}

// elements are the dtypes of the elements behind a pointer.
var elements = map[string]string{
	"float": "f32", "double": "f64", "half": "f16", "__half": "f16", "Half": "f16", "float16_t": "f16",
	"_Float16": "f16", "__bf16": "bf16", "hip_bfloat16": "bf16", "__hip_bfloat16": "bf16",
	"__nv_bfloat16": "bf16", "nv_bfloat16": "bf16", "BFloat16": "bf16", "bfloat16": "bf16", "bfloat16_t": "bf16",
	"int": "i32", "int32_t": "i32", "int64_t": "i64", "long": "i64", "int8_t": "i8", "int16_t": "i16", "short": "i16",
	"uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "uint64_t": "u64", "size_t": "u64", "bool": "bool",
	"__nv_fp8_e4m3": "f8e4m3fn", "__nv_fp8_e5m2": "f8e5m2", "Float8_e4m3fn": "f8e4m3fn", "Float8_e5m2": "f8e5m2",
}

// Vocabulary is what an author's own types are: those of arrays as PyTorch's Tensor is one, and the dtypes of what stands behind pointers,
// by the type's name without namespaces.
type Vocabulary struct {
	Tensors  []string
	Elements map[string]string
}

// vocabulary is what is known of types while a function is read. Template names the parameters of its template.
type vocabulary struct {
	template []string
	kinds    map[string]Kind
	elements map[string]string
	// found are the aliases that the sources declare, with what they stand for.
	found map[string]string
}

func newVocabulary(own Vocabulary) vocabulary {
	v := vocabulary{kinds: maps.Clone(scalarKinds), elements: maps.Clone(elements), found: map[string]string{}}
	bare := func(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
	for _, name := range own.Tensors {
		v.kinds[bare(name)] = Array
	}
	for name, elem := range own.Elements {
		v.elements[bare(name)] = elem
	}
	return v
}

// within is the vocabulary in a template.
func (v vocabulary) within(template []string) vocabulary {
	v.template = template
	return v
}

// alias adds another name of a type that is known, unless the author says what that is.
func (v vocabulary) alias(name string, tokens []token) {
	base, inner, stars, reference := typeParts(tokens)
	if inner != nil || stars > 0 || reference || contains(tokens, "const") {
		return
	}
	if before, again := v.found[name]; again {
		if v.elements[base] != v.elements[before] || v.kinds[base] != v.kinds[before] { // it depends on where it is used
			delete(v.kinds, name)
			delete(v.elements, name)
		}
		return
	}
	kind, elem := v.kinds[base], v.elements[base]
	if _, taken := v.kinds[name]; taken || v.elements[name] != "" || kind == Other && elem == "" {
		return
	}
	v.found[name] = base
	if kind != Other {
		v.kinds[name] = kind
	}
	if elem != "" {
		v.elements[name] = elem
	}
}

// ignored are words in a declaration that say nothing about what a parameter is.
var ignored = []string{"const", "volatile", "struct", "class", "typename", "__restrict__", "__restrict", "restrict", "__grid_constant__", "constexpr"}

// integral are the words of which the names of integers are made.
var integral = []string{"unsigned", "signed", "short", "long", "int", "char"}

// cppParam reads one parameter of a declaration.
func cppParam(tokens []token, v vocabulary) Param {
	p := Param{}
	if parts := split(tokens, "="); len(parts) > 1 {
		tokens = parts[0]
		p.setDefault(parts[1])
	}
	tokens, array := withoutBrackets(tokens)
	if n := len(tokens); n > 1 && tokens[n-1].kind == word && !slices.Contains(ignored, tokens[n-1].text) && !tokens[n-1].isTypeAfter(tokens[n-2]) {
		p.Name, tokens = tokens[n-1].text, tokens[:n-1]
	}
	p.Type = joined(tokens)
	if array {
		tokens = append(slices.Clone(tokens), token{text: "*"})
		p.Type = joined(tokens)
	}
	p.classify(tokens, v)
	return p
}

// isTypeAfter says whether a word belongs to the type that the token before it begins: `unsigned int`, `at::Tensor`.
func (t token) isTypeAfter(before token) bool {
	if before.text == "::" {
		return true
	}
	_, scalar := scalarKinds[t.text]
	scalar = scalar || slices.Contains(integral, t.text)
	return scalar && before.kind == word && (slices.Contains(ignored, before.text) || scalarKinds[before.text] == Int)
}

// withoutBrackets drops the [] behind a name, and attributes in front.
func withoutBrackets(tokens []token) (rest []token, array bool) {
	for len(tokens) > 0 && tokens[0].text == "[" {
		tokens = tokens[min(len(tokens), closing(tokens, 0)+1):]
	}
	for i, t := range tokens {
		if t.kind == punctuation && t.text == "[" {
			return tokens[:i], true
		}
	}
	return tokens, false
}

// classify finds out what a type is.
func (p *Param) classify(tokens []token, v vocabulary) {
	base, inner, stars, reference := typeParts(tokens)
	// Behind the last *, const is said of the pointer, and not of what it points to.
	pointed := tokens
	for i, t := range tokens {
		if t.text == "*" && stars == 1 {
			pointed = tokens[:i]
		}
	}
	constant := contains(pointed, "const")
	switch {
	case slices.ContainsFunc(tokens, func(t token) bool { return t.text == "(" }):
		p.Kind = Other // a function
	case inner != nil && stars == 0:
		p.generic(base, inner, constant, reference, v)
	case stars == 1 && v.kinds[base] != Stream && inner == nil:
		p.pointer(base, constant, v)
	case stars == 0:
		p.Kind = v.kinds[base]
	case stars == 1 && base == "CUstream_st":
		p.Kind = Stream
	}
	if p.Kind == Array && !p.Pointer {
		p.Written = reference && !constant // nothing is known of a const Tensor&: its elements may be written all the same
	}
}

// pointer is one to elements of a dtype.
func (p *Param) pointer(base string, constant bool, v vocabulary) {
	elem, known := v.elements[base]
	switch {
	case slices.Contains(v.template, base):
		elem = base
	case base == "void" && strings.HasSuffix(strings.ToLower(p.Name), "stream"):
		p.Kind = Stream
		return
	case base == "void":
		elem = ""
	case base == "char" && constant:
		p.Kind = Str
		return
	case !known:
		return
	}
	p.Kind, p.Pointer, p.Elem, p.Const, p.Written = Array, true, elem, constant, !constant
	_, p.alias = v.found[base]
}

// generic is a type with arguments, such as std::optional<at::Tensor>.
func (p *Param) generic(base string, inner []token, constant, reference bool, v vocabulary) {
	args := split(inner, ",")
	if len(args) == 0 {
		return
	}
	of := Param{}
	of.classify(args[0], v)
	switch base {
	case "optional", "Optional", "OptionalRef", "OptionalArrayRef", "optional_ref":
		p.Kind, p.Elem, p.Len, p.Optional = of.Kind, of.Elem, of.Len, true
		p.Written = of.Kind == Array && reference && !constant
		if base == "OptionalArrayRef" {
			p.Kind = Ints
		}
	case "vector", "ArrayRef", "Array", "HeaderOnlyArrayRef", "array", "initializer_list":
		p.Kind = map[Kind]Kind{Array: List, Int: Ints}[of.Kind]
		if base == "array" && len(args) == 2 && len(args[1]) == 1 {
			p.Len = wholeNumber(args[1][0].text)
		}
	}
}

// typeParts are the last name of a type, the arguments behind it, how many * it has, and whether it has a &.
func typeParts(tokens []token) (base string, inner []token, stars int, reference bool) {
	var integers []string
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.kind == word && !slices.Contains(ignored, t.text):
			base, inner = t.text, nil
			if slices.Contains(integral, t.text) {
				integers = append(integers, t.text)
				base = integer(integers)
			} else if t.text == "double" && slices.Contains(integers, "long") {
				base = "long double"
			}
		case t.text == "<":
			end := closingAngle(tokens, i)
			if end < 0 {
				return base, inner, stars, reference
			}
			inner, i = tokens[i+1:end], end
		case t.text == "*":
			stars++
		case t.text == "&":
			reference = true
		}
	}
	return base, inner, stars, reference
}

// integer is the type that words such as `unsigned long int` name together, under the name that elements knows.
func integer(words []string) string {
	unsigned := slices.Contains(words, "unsigned")
	size := "32"
	switch {
	case slices.Contains(words, "char") && !unsigned && !slices.Contains(words, "signed"):
		return "char"
	case slices.Contains(words, "char"):
		size = "8"
	case slices.Contains(words, "short"):
		size = "16"
	case slices.Contains(words, "long") && !unsigned:
		return "long" // `long long` has the size of int64_t, but is another type
	case slices.Contains(words, "long"):
		size = "64"
	case !unsigned:
		return "int"
	}
	if unsigned {
		return "uint" + size + "_t"
	}
	return "int" + size + "_t"
}

// cppResults are what a function returns. Numbers are kept: an op cannot return them, which the draft says.
func cppResults(tokens []token, v vocabulary) []Param {
	base, inner, stars, _ := typeParts(tokens)
	if stars == 0 && (base == "tuple" || base == "pair") {
		var all []Param
		for _, part := range split(inner, ",") {
			p := Param{Type: joined(part)}
			p.classify(part, v)
			all = append(all, p)
		}
		return all
	}
	p := Param{Type: joined(tokens)}
	p.classify(tokens, v)
	if p.Type == "" || stars == 0 && base == "void" {
		return nil
	}
	return []Param{p}
}

// base is the last name of the type.
func (p *Param) base() string {
	name, _, _, _ := typeParts(lex(p.Type))
	return name
}

// wholeNumber is a number without a sign, or 0.
func wholeNumber(s string) int {
	n := 0
	for _, c := range strings.TrimRight(s, "uUlL") {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
