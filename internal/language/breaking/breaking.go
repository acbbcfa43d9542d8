// Package breaking compares two states of a collection and finds what the callers of the old one, and programs that it stored,
// would trip over.
//
// What has to stay: names and numbers of ops, names and order of inputs and attributes, results and their order, what a call may
// pass and what a call that leaves something out means, and the arrays that only stored programs and callers in C pass. What kernels
// do inside may change, and so may texts and the names of sizes and dtype variables. Expressions are not solved: one that computes
// the same in another way counts as another one.
package breaking

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// Change is a difference that callers may notice.
type Change struct {
	// Op is the op's name in the old collection, empty for what concerns all of them. File is its old definition.
	Op   string `json:"op,omitempty"`
	File string `json:"file"`
	// Breaks says that a call which worked is refused, or means something else. Other changes are worth knowing.
	Breaks bool   `json:"breaks"`
	Text   string `json:"text"`
}

// comparison collects the changes of one op, or of the manifest.
type comparison struct {
	op, file      string
	before, after *sizes
	changes       []Change
}

func (c *comparison) breaks(format string, args ...any) { c.add(true, format, args...) }

func (c *comparison) note(format string, args ...any) { c.add(false, format, args...) }

func (c *comparison) add(breaks bool, format string, args ...any) {
	c.changes = append(c.changes, Change{c.op, c.file, breaks, fmt.Sprintf(format, args...)})
}

// Compare lists the changes from an old collection to a new one: those of the manifest, then those of each op by name.
func Compare(before, after *opdef.Project) []Change {
	m := &comparison{file: "opcast.toml"}
	m.manifest(before, after)
	changes := m.changes
	for _, old := range before.Ops {
		c := &comparison{op: old.Name, file: old.File}
		i := slices.IndexFunc(after.Ops, func(op *opdef.Op) bool { return op.Name == old.Name })
		if i < 0 {
			c.removed(old, after)
		} else {
			c.compare(old, after.Ops[i])
		}
		changes = append(changes, c.changes...)
	}
	for _, op := range after.Ops {
		if !slices.ContainsFunc(before.Ops, func(old *opdef.Op) bool { return old.Name == op.Name }) {
			changes = append(changes, Change{op.Name, op.File, false, "the op is new"})
		}
	}
	return changes
}

// manifest compares the names under which the collection is known, and for what it is made.
func (c *comparison) manifest(before, after *opdef.Project) {
	if a, b := before.Manifest.Name, after.Manifest.Name; a != b {
		c.breaks("the collection was named %s, and is named %s: so are its packages and its environment variables", a, b)
	}
	if a, b := before.Manifest.Unique(), after.Manifest.Unique(); a != b {
		c.breaks("the namespace was %s, and is %s: stored programs name it", a, b)
	}
	for _, word := range without(before.Manifest.Adaptors, after.Manifest.Adaptors) {
		c.breaks("there is no package for %s any more", word)
	}
	archs := func(m *manifest.Manifest) []string { return slices.Concat(m.CUDA.Arch, m.ROCm.Arch) }
	for _, arch := range without(archs(&before.Manifest), archs(&after.Manifest)) {
		c.breaks("the library has no code for the architecture %s any more", arch)
	}
	for _, word := range without(before.Manifest.Devices, after.Manifest.Devices) {
		c.breaks("the ops do not run on %s any more", word)
	}
}

// removed says what became of an op whose name is gone.
func (c *comparison) removed(old *opdef.Op, after *opdef.Project) {
	i := slices.IndexFunc(after.Ops, func(op *opdef.Op) bool { return op.Kind == old.Kind })
	if i < 0 {
		c.breaks("the op is gone")
		return
	}
	c.breaks("the op is gone, and its kind %d is that of %s", old.Kind, after.Ops[i].Name)
}

func (c *comparison) compare(old, op *opdef.Op) {
	c.before, c.after = sizesOf(old), sizesOf(op)
	if old.Kind != op.Kind {
		c.breaks("kind was %d, and is %d: callers in C and recorded calls name the op by it", old.Kind, op.Kind)
	}
	c.inputs(old, op)
	c.attrs(old, op)
	c.outputs(old, op)
	c.between("what is saved for the gradient", savedOutputs(old), savedOutputs(op))
	c.between("the scratch", old.Scratch, op.Scratch)
	c.dtypes(old, op)
	c.requirements(old, op)
	c.behaviour(old, op)
}

// behaviour compares what is not about arguments.
func (c *comparison) behaviour(old, op *opdef.Op) {
	if old.Backward != "" && op.Backward == "" {
		c.breaks("the op has no gradient any more")
	}
	if old.Forward != "" && op.Forward == "" {
		c.breaks("the op has no tangents any more")
	}
	if old.Deterministic && !op.Deterministic {
		c.breaks("two runs may differ in bits now")
	}
	if a, b := cmp.Or(old.Autocast, opdef.Autocasts[0]), cmp.Or(op.Autocast, opdef.Autocasts[0]); a != b {
		c.breaks("autocast was %q, and is %q: results have another dtype under it", a, b)
	}
	c.layers(old, op)
	c.kernels(old, op)
	if old.Reference != op.Reference || old.ReferenceModule != op.ReferenceModule {
		c.note("the reference has another text: see whether results do")
	}
	if old.Deprecated == "" && op.Deprecated != "" {
		c.note("the op is deprecated: %s", op.Deprecated)
	}
}

// layers compares the modules for which the op stands.
func (c *comparison) layers(old, op *opdef.Op) {
	for _, was := range old.Layers {
		i := slices.IndexFunc(op.Layers, func(other opdef.Layer) bool { return other.Name == was.Name })
		if i < 0 {
			c.breaks("there is no layer %s any more", was.Name)
			continue
		}
		is := op.Layers[i]
		for _, class := range without(was.Classes, is.Classes) {
			c.breaks("the layer %s does not stand for %s any more", was.Name, class)
		}
		if !reflect.DeepEqual(settings(was, is), settings(is, was)) {
			c.note("the layer %s reads modules in another way: see whether it still takes those that it took", was.Name)
		}
	}
}

// settings is what a layer takes from a module, but for arguments of the op that another layer does not know.
func settings(l, other opdef.Layer) opdef.Layer {
	unknown := func(all []opdef.LayerArg) func(opdef.LayerArg) bool {
		return func(a opdef.LayerArg) bool {
			return !slices.ContainsFunc(all, func(b opdef.LayerArg) bool { return a.Name == b.Name })
		}
	}
	l.Inputs = slices.DeleteFunc(slices.Clone(l.Inputs), unknown(other.Inputs))
	l.Attrs = slices.DeleteFunc(slices.Clone(l.Attrs), unknown(other.Attrs))
	l.Classes, l.Implied = nil, false
	return l
}

// archText is what a kernel asks of GPUs.
func archText(k opdef.Kernel) string {
	return strings.Join(slices.DeleteFunc(append([]string{k.Arch}, k.GFX...), func(a string) bool { return a == "" }), " or ")
}

// kernels compares where the op runs.
func (c *comparison) kernels(old, op *opdef.Op) {
	var devices []string
	for _, k := range op.KernelList() {
		devices = append(devices, k.Devices...)
	}
	for _, k := range old.KernelList() {
		gone := slices.DeleteFunc(k.Devices, func(device string) bool { return slices.Contains(devices, device) })
		for _, device := range gone {
			c.breaks("the op has no kernel for %s any more", device)
		}
		devices = append(devices, gone...) // said once
		i := slices.IndexFunc(op.KernelList(), func(other opdef.Kernel) bool { return other.Name == k.Name })
		switch {
		case len(gone) > 0:
		case i < 0:
			c.note("there is no kernel %s any more, which some callers may force", k.Name)
		case op.KernelList()[i].WithValues() != k.WithValues():
			c.note("the kernel %s may be asked for other parameters: %s, and before %s", k.Name, op.KernelList()[i].WithValues(), k.WithValues())
		case len(without(op.KernelList()[i].Breaks, k.Breaks)) > 0:
			lost := strings.Join(without(op.KernelList()[i].Breaks, k.Breaks), " and ")
			c.note("the kernel %s no longer gives parts along %s the bits of the whole", k.Name, lost)
		case archText(op.KernelList()[i]) != archText(k):
			c.note("the kernel %s is for the architecture %q, and was for %q", k.Name, archText(op.KernelList()[i]), archText(k))
		}
	}
}

// without lists the words that the second list lacks.
func without(words, other []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(other, w) })
}
