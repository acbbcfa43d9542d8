package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/collection"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// What the tests of package opdef_test use, which import the generator.

// Everything is a definition with nearly every key.
const Everything = everything

// GradientText is a definition of the gradient of ForwardOp.
const GradientText = gradientText

// LoadText is loadText.
var LoadText = loadText

// ForwardOp is forwardOp.
var ForwardOp = forwardOp

// loadText reads a definition, beside others, and the same text as a manifest, whose diagnostics are left out of the result.
func loadText(project *projectfs.Tree, text string, forward ...*opdef.Op) (*opdef.Op, diag.List) {
	var diags, ignored diag.List
	p := &opdef.Project{}
	if doc := tomldoc.Parse(manifest.File, []byte(text), &ignored); doc != nil {
		p.Manifest = manifest.Check(doc, project.Leaves, &ignored)
	}
	doc := tomldoc.Parse("opdefs/demo.toml", []byte(text), &diags)
	if doc == nil {
		return nil, diags
	}
	op := &opdef.Op{Name: "demo", File: "opdefs/demo.toml", Devices: []string{"cpu"}}
	checkOp(op, doc, neighbours{}, &diags)
	p.Ops = append([]*opdef.Op{op}, forward...)
	collection.Check(p, &diags)
	return op, slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.File != op.File })
}

// forwardOp is an op whose gradient the fuzzed definition claims to be.
func forwardOp() *opdef.Op {
	var ignored diag.List
	op := &opdef.Op{Name: "forward", File: "opdefs/forward.toml"}
	checkOp(op, tomldoc.Parse(op.File, []byte(forwardText), &ignored), neighbours{}, &ignored)
	return op
}

const forwardText = `doc = "Forward."
kind = 65535
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*, N]", doc = "A." }, { name = "b", type = "T[N]", optional = true, doc = "A." }]
attrs = [{ name = "eps", type = "float", default = "N ** -1", doc = "A." }]
outputs = [{ name = "y", type = "T[*, N]", doc = "A." }, { name = "s", type = "f32[*]", saved = true, doc = "A." }]
backward = "demo"
reference = "return x"
`

// gradientText is such a definition.
const gradientText = `doc = "Gradient."
kind = 1
dtypes = { T = ["f32"] }
inputs = [
  { name = "grad_y", type = "T[*, N]", doc = "A." }, { name = "x", type = "T[*, N]", doc = "A." },
  { name = "s", type = "f32[*]", doc = "A." }, { name = "b", type = "T[N]", optional = true, doc = "A." },
]
attrs = [{ name = "eps", type = "float", default = "N ** -1", doc = "A." }]
outputs = [{ name = "grad_x", type = "T[*, N]", doc = "A." }, { name = "grad_b", type = "T[N]", present_if = "b", doc = "A." }]
sums = ["*"]
reference = "return x"
`
