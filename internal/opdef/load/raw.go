package load

import "github.com/opcast/opcast/internal/opdef/layer"

// The raw types mirror the files key by key. `any` stands where a key takes values of several types.

type rawOp struct {
	Doc               string
	Kind              *int
	DTypes            map[string][]string
	Inputs            []rawInput
	Attrs             []rawAttr
	Outputs           []rawOutput
	Let               map[string]string
	Require           []string
	Scratch           []rawScratch
	Parallel, Sums    []string
	Reference         string
	Backward, Forward string
	Samples           map[string][]any
	Workloads         map[string]map[string]any
	Flops             string
	Tolerance         map[string]rawTolerance
	Deterministic     *bool
	Autocast          string
	Since, Deprecated string
	Kernels           []rawKernel
	Layers            []layer.Raw
}

type rawInput struct {
	Name, Type, Doc         string
	Optional, Mutated, List bool
	Stride                  string
	Min, Max                any
	Sorted                  bool
	LSE                     *rawLSE
}

type rawOutput struct {
	Name, Type, Doc string
	Saved           bool
	PresentIf       string `toml:"present_if"`
	Valid, List     string
	LSE             *rawLSE
}

type rawLSE struct{ Base, Empty string }

type rawScratch struct {
	Name, Type, Doc string
	Zeroed          bool
}

type rawAttr struct {
	Name, Type, Doc   string
	Optional          bool
	Default, Min, Max any
	OneOf             []string `toml:"one_of"`
	Binds             string
}

type rawTolerance struct{ RTol, ATol *float64 }

type rawKernel struct {
	Name           string
	Device, Arch   any
	DTypes         map[string]any
	When           string
	Scratch        *bool
	Supported      bool
	QueryWorkspace bool `toml:"query_workspace"`
	Params         map[string][]int
}
