package opdef

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// TunedDir is the folder of the files that `opcast tune` writes.
const TunedDir = "tune"

// tunedSchema is the version of these files; it rises when a field changes its meaning or goes.
const tunedSchema = 1

// Tuned is what was measured on machines of one architecture: TunedDir/ARCH.json.
type Tuned struct {
	// Arch is an instruction set that loops on the CPU are compiled for, or the architecture of a GPU: "avx2", "sm_90".
	Arch string
	// Machine and Date say where and when rows were measured last.
	Machine, Date string
	Rows          []TunedRow
}

// TunedRow is a call of some kernel, with the parameters that were best for it.
type TunedRow struct {
	Op       string            `json:"op"`
	Kernel   string            `json:"kernel"`
	Workload string            `json:"workload"`
	DTypes   map[string]string `json:"dtypes"`
	Sizes    map[string]int64  `json:"sizes"`
	Params   map[string]int64  `json:"params"`
	// TimeNS is the median time with these parameters, DefaultNS that with the first values, in nanoseconds.
	TimeNS    float64 `json:"time_ns"`
	DefaultNS float64 `json:"default_ns"`
}

// tunedFile is the file; its rows stand one to a line, so that people can review what changes.
type tunedFile struct {
	Schema  int        `json:"schema"`
	Arch    string     `json:"arch"`
	Machine string     `json:"machine"`
	Date    string     `json:"date"`
	Rows    []TunedRow `json:"rows"`
}

// File is where a project keeps it.
func (t *Tuned) File() string { return path.Join(TunedDir, t.Arch+".json") }

// Encode returns the text of the file.
func (t *Tuned) Encode() ([]byte, error) {
	head := tunedFile{Schema: tunedSchema, Arch: t.Arch, Machine: t.Machine, Date: t.Date, Rows: []TunedRow{}}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	lines := make([]string, len(t.Rows))
	for i := range t.Rows {
		line, err := json.Marshal(&t.Rows[i])
		if err != nil {
			return nil, fmt.Errorf("write parameters: %w", err)
		}
		lines[i] = "    " + string(line)
	}
	rows := "[\n" + strings.Join(lines, ",\n") + "\n  ]"
	if len(lines) == 0 {
		rows = "[]"
	}
	return append(bytes.Replace(text, []byte(`"rows": []`), []byte(`"rows": `+rows), 1), '\n'), nil
}

// ParseTuned reads the text of a file.
func ParseTuned(text []byte) (*Tuned, error) {
	var f tunedFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("expected what `opcast tune` writes: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected what `opcast tune` writes: something stands behind it")
	}
	if f.Schema != tunedSchema {
		return nil, fmt.Errorf("expected schema %d, got %d", tunedSchema, f.Schema)
	}
	seen := map[string]bool{}
	for i := range f.Rows {
		key := fmt.Sprintf("%q", f.Rows[i].key())
		if seen[key] {
			return nil, fmt.Errorf("two rows are about %s by %s, %s", f.Rows[i].Op, f.Rows[i].Kernel, f.Rows[i].Workload)
		}
		seen[key] = true
	}
	return &Tuned{Arch: f.Arch, Machine: f.Machine, Date: f.Date, Rows: f.Rows}, nil
}

// cpuArchs are the instruction sets that loops on the CPU are compiled for, each with what the one before it has; the last is
// that of CPUs other than x86-64.
var cpuArchs = []string{"sse2", "avx2", "avx512", "avx512_bf16", "baseline"}

// sweptSize is the name of a workload with another value of a size: "step(N=64)".
var sweptSize = regexp.MustCompile(`^\w+\((\w+|\*|\.\.\.)=\d+\)$`)

var gpuArch = regexp.MustCompile(`^(sm_[1-9][0-9]{1,2}|gfx[0-9a-f]{3,4})$`)

// ArchDevice is the kind of device that an architecture belongs to; "" for a word that is no architecture.
func ArchDevice(arch string) string {
	switch {
	case slices.Contains(cpuArchs, arch):
		return "cpu"
	case !gpuArch.MatchString(arch):
		return ""
	case strings.HasPrefix(arch, "gfx"):
		return "rocm"
	}
	return "cuda"
}

// CPUArch is the number by which the backend knows an instruction set.
func CPUArch(arch string) int { return slices.Index(cpuArchs, arch) }

// TunedSizes are the sizes by which calls of the op are compared: the product of its leading dims, and those that inputs
// have. What differs from one array of a list to the next is not among them.
func (o *Op) TunedSizes() []string {
	var list []string
	if o.HasBatch() && !o.HasLists() {
		list = append(list, Batch)
	}
	for _, s := range o.Steps {
		if s.Kind == BindSize && !o.Differs(s.Symbol) && !slices.Contains(list, s.Symbol) {
			list = append(list, s.Symbol)
		}
	}
	return list
}

// Unfit says why a row is about no call of the project; "" for one that is.
func (r *TunedRow) Unfit(p *Project, device string) string {
	at := slices.IndexFunc(p.Ops, func(o *Op) bool { return o.Name == r.Op })
	if at < 0 {
		return "no op is named " + r.Op
	}
	op := p.Ops[at]
	at = slices.IndexFunc(op.Kernels, func(k Kernel) bool { return k.Name == r.Kernel && k.On(device) })
	if at < 0 {
		return fmt.Sprintf("%s has no kernel %s for %s", r.Op, r.Kernel, device)
	}
	name, _, swept := strings.Cut(r.Workload, "(") // behind which a sweep names the value of a size
	if swept && !sweptSize.MatchString(r.Workload) {
		return fmt.Sprintf("%s: %q names no workload", r.Op, r.Workload)
	}
	if !slices.ContainsFunc(op.Workloads, func(w Workload) bool { return w.Name == name }) {
		return fmt.Sprintf("%s has no workload %s", r.Op, name)
	}
	for _, d := range op.DTypes {
		if !slices.Contains(d.OneOf, r.DTypes[d.Name]) {
			return fmt.Sprintf("%s: %s is never %q", r.Op, d.Name, r.DTypes[d.Name])
		}
	}
	for _, size := range op.TunedSizes() {
		if n, given := r.Sizes[size]; !given || n < 0 {
			return fmt.Sprintf("%s: the row of %s has no size %s", r.Op, r.Workload, size)
		}
	}
	return op.Kernels[at].unfit(r.Params)
}

// unfit says why a kernel does not have these parameters.
func (k *Kernel) unfit(params map[string]int64) string {
	for _, p := range k.Params {
		if value, given := params[p.Name]; !given || !slices.Contains(p.Values, value) {
			return fmt.Sprintf("%s: %s is never %d", k.Name, p.Name, value)
		}
	}
	if len(params) != len(k.Params) {
		return fmt.Sprintf("%s has %d parameters, the row %d", k.Name, len(k.Params), len(params))
	}
	return ""
}

// Choice is the number of the row's parameters among the choices of a kernel that has them.
func (r *TunedRow) Choice(k *Kernel) int {
	return slices.IndexFunc(k.Choices(), func(choice []int64) bool {
		for i, p := range k.Params {
			if choice[i] != r.Params[p.Name] {
				return false
			}
		}
		return true
	})
}

// Fitting are the rows that are about calls of the project.
func (t *Tuned) Fitting(p *Project) []TunedRow {
	device := ArchDevice(t.Arch)
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r TunedRow) bool { return r.Unfit(p, device) != "" })
}

// Add adds the rows that are about no call that it has, and puts all in order.
func (t *Tuned) Add(rows []TunedRow) {
	for i := range rows {
		if !slices.ContainsFunc(t.Rows, func(r TunedRow) bool { return slices.Equal(r.key(), rows[i].key()) }) {
			t.Rows = append(t.Rows, rows[i])
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b TunedRow) int { return slices.Compare(a.key(), b.key()) })
}

// key says which call a row is about.
func (r *TunedRow) key() []string { return []string{r.Op, r.Kernel, r.Workload} }

// Name is the kernel with the parameters of the row: "product[rows=64,step=2]".
func (r *TunedRow) Name() string {
	parts := make([]string, 0, len(r.Params))
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, r.Params[name]))
	}
	return r.Kernel + "[" + strings.Join(parts, ",") + "]"
}
