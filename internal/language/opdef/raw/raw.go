// Package raw is what files say before they are checked: the keys of definitions, the words that these take, and values. Schema
// describes all of it to editors.
package raw

import "github.com/opcast/opcast/internal/language/opdef/layer"

// The raw types mirror the files key by key. `any` stands where a key takes values of several types.

// Op is the file of a definition.
type Op struct {
	Doc               string
	Kind              *int
	DTypes            map[string][]string
	Inputs            []Input
	Attrs             []Attr
	Outputs           []Output
	Let               map[string]string
	Require           []string
	Scratch           []Scratch
	Parallel, Sums    []string
	Reference         string
	Backward, Forward string
	NoGrad            []string `toml:"no_grad"`
	Order             []string
	Samples           map[string][]any
	Workloads         map[string]map[string]any
	Flops             string
	Tolerance         map[string]Tolerance
	Deterministic     *bool
	Autocast          string
	Since, Deprecated string
	Kernels           []Kernel
	Layers            []layer.Raw
}

// Input is an element of inputs.
type Input struct {
	Name, Type, Doc         string
	Optional, Mutated, List bool
	Stride                  string
	Min, Max                any
	Sorted                  bool
	Contents, Packs         string
	LSE                     *LSE
}

// Output is an element of outputs.
type Output struct {
	Name, Type, Doc string
	Saved           bool
	PresentIf       string `toml:"present_if"`
	Valid, List     string
	Packs           string
	Min, Max        any
	LSE             *LSE
}

// LSE says that an argument is a log-sum-exp.
type LSE struct{ Base, Empty string }

// Scratch is an element of scratch.
type Scratch struct {
	Name, Type, Doc string
	Zeroed          bool
	Min, Max        any
}

// Attr is an element of attrs.
type Attr struct {
	Name, Type, Doc   string
	Optional          bool
	Default, Min, Max any
	OneOf             []any `toml:"one_of"`
	Binds             string
}

// Tolerance is a value of tolerance.
type Tolerance struct{ RTol, ATol *float64 }

// Kernel is an element of kernels.
type Kernel struct {
	Name           string
	Device, Arch   any
	DTypes         map[string]any
	When           string
	Scratch        *bool
	Supported      bool
	QueryWorkspace bool `toml:"query_workspace"`
	Params         map[string][]int
	Compilers      []string
	Parallel       []string
}
