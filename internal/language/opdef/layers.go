package opdef

import (
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// Layer is a module of a framework that calls the op: a class of its own that users construct, and what it stands in for.
type Layer struct {
	// Name is the class's, Module the framework's own module that it is constructed as, with the framework's name and dots
	// ("" where it is none), Classes those of models that it can stand in for.
	Name, Module string
	Classes      []string
	// Inputs and Attrs have an entry for every input and every attribute of the op, in their order.
	Inputs, Attrs []LayerArg
	// Expects are settings that a module must have with one of the values, Ignores those without effect on the result.
	Expects []LayerSetting
	Ignores []string
	// Rows says that leading dims of any number take the place of the first dim of the data; Trailing names the setting that
	// is the shape whose dims become the last one.
	Rows     bool
	Trailing string
	// Joins are submodules whose results, side by side, are the data; Then is the one that takes the result.
	Joins []string
	Then  string
	// Implied says that the definition does not mention layers, and this is what follows from that.
	Implied bool
}

// LayerArg says where an input or an attribute of the op comes from: from the call of the module, or from the module.
type LayerArg struct {
	Name string
	// Data says that the caller of the module gives it.
	Data bool
	// Reads are the names under which modules have it; Value is what it always is, if it is not read, and nil for the op's
	// own default.
	Reads []string
	Value any
	// Absent is what it is where the module has None, nil where that is refused or stands for an input that is left out.
	Absent any
	// Flat says that its dims become one, as the trailing ones of the data do.
	Flat bool
}

// LayerSetting is a setting of a module, and the values (int64, float64, bool, string) that it may have.
type LayerSetting struct {
	Name   string
	Values []any
}

// initialisms are the words that class names write in their usual form.
var initialisms = map[string]string{
	"fft": "FFT", "fp8": "FP8", "gqa": "GQA", "gru": "GRU", "kv": "KV", "lstm": "LSTM", "mha": "MHA", "mla": "MLA",
	"mlp": "MLP", "moe": "MoE", "nms": "NMS", "rms": "RMS", "rope": "RoPE", "topk": "TopK",
}

// LayerName is the class of an op whose definition names none: the op's name in camel case, with initialisms in upper case.
func LayerName(op string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(op, "_") {
		if known, ok := initialisms[word]; ok {
			word = known
		}
		b.WriteString(names.Pascal(word))
	}
	return b.String()
}
