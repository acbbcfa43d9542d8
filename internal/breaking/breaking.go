// Package breaking compares two states of a collection and finds what the callers of the old one, and programs that it stored,
// would trip over.
//
// What has to stay: names and numbers of ops, names and order of inputs, results and their order, what a call may pass and what
// a call that leaves something out means. What kernels do inside may change, and so may texts. Expressions are compared as they
// are written, but for the names of sizes: one that was written otherwise counts as another one.
package breaking

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/opdef"
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
	before, after sizes
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
	for _, l := range old.Layers {
		if !slices.ContainsFunc(op.Layers, func(other opdef.Layer) bool { return other.Name == l.Name }) {
			c.breaks("there is no layer %s any more", l.Name)
		}
	}
	for _, k := range old.KernelList() {
		if !slices.ContainsFunc(op.KernelList(), func(other opdef.Kernel) bool { return other.Name == k.Name }) {
			c.note("there is no kernel %s any more, which some callers may force", k.Name)
		}
	}
	if old.Reference != op.Reference || old.ReferenceModule != op.ReferenceModule {
		c.note("the reference has another text: see whether results do")
	}
	if old.Deprecated == "" && op.Deprecated != "" {
		c.note("the op is deprecated: %s", op.Deprecated)
	}
}

// without lists the words that the second list lacks.
func without(words, other []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(other, w) })
}
