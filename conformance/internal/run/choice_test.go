package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/results/report"
)

// specsOf lists the specs of cells.
func specsOf(cells []Cell) map[pattern]bool {
	out := map[pattern]bool{}
	for _, p := range patternsOf(cells) {
		out[p] = true
	}
	return out
}

func toyCallers() []string { return []string{calls.DefinitionName, "fake", "other"} }

// Shards are parts of the run: every spec is in exactly one of them.
func TestShards(t *testing.T) {
	ops, callers := fake.Toy(t).Ops, toyCallers()
	all, err := (&choice{}).cells(ops, callers, nil)
	if err != nil {
		t.Fatal(err)
	}
	for parts := 1; parts < 5; parts++ {
		seen := map[pattern]int{}
		for part := range parts {
			cells, err := (&choice{part: part, parts: parts}).cells(ops, callers, nil)
			if err != nil {
				t.Fatal(err)
			}
			for spec := range specsOf(cells) {
				seen[spec]++
			}
		}
		for spec := range specsOf(all) {
			if seen[spec] != 1 {
				t.Fatalf("%v is in %d of %d shards", spec, seen[spec], parts)
			}
		}
		if len(seen) != len(specsOf(all)) {
			t.Errorf("%d shards have %d specs, want %d", parts, len(seen), len(specsOf(all)))
		}
	}
}

func TestShardTexts(t *testing.T) {
	for text, good := range map[string]bool{"1/1": true, "2/3": true, "0/2": false, "3/2": false, "1": false, "a/b": false, "1/2/3": false} {
		part, parts, err := shard(text)
		if (err == nil) != good || err != nil && !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %d of %d, %v", text, part, parts, err)
		}
	}
}

func TestOnly(t *testing.T) {
	for text, want := range map[string]struct {
		specs int
		err   string
	}{
		"affine fake value":                             {1, ""},
		"# a comment\n\naffine fake value # and more\n": {1, ""},
		"* fake value":                                  {len(fake.Toy(t).Ops), ""},
		"affine fake value\naffine other value":         {2, ""},
		"affine fake":                                   {0, `expected "op adaptor check", got "affine fake"`},
		"affine fake no-such-check":                     {0, `spec "affine fake no-such-check": unknown name`},
		"affine fake value\nno_op * value":              {0, `spec "no_op * value": unknown name`},
		"":                                              {0, `nothing is chosen: `},
	} {
		path := filepath.Join(t.TempDir(), "only")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := newChoice(Options{Scope: Scope{Only: path}})
		var cells []Cell
		if err == nil {
			err = c.checkPatterns(fake.Toy(t).Ops, toyCallers(), nil)
		}
		if err == nil {
			cells, err = c.cells(fake.Toy(t).Ops, toyCallers(), nil)
		}
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%q: got %v, want %q", text, err, want.err)
			}
			continue
		}
		if got := len(specsOf(cells)); err != nil || got != want.specs {
			t.Errorf("%q: %d specs, want %d: %v", text, got, want.specs, err)
		}
	}
}

func TestLastFailed(t *testing.T) {
	dir := t.TempDir()
	if _, err := newChoice(Options{Scope: Scope{LastFailed: true}, Output: Output{ReportDir: dir}}); !errors.Is(err, ErrUsage) {
		t.Errorf("without a last run: %v", err)
	}
	write := func(status report.Status) {
		r := report.Report{Schema: report.Schema, Results: []report.Result{
			{Op: "affine", Adaptor: "fake", Check: "value", Status: report.Pass},
			{Op: "affine", Adaptor: "fake", Check: "shape", Status: status},
		}}
		if err := r.WriteFiles(dir); err != nil {
			t.Fatal(err)
		}
	}
	write(report.Skip)
	if _, err := newChoice(Options{Scope: Scope{LastFailed: true}, Output: Output{ReportDir: dir}}); !errors.Is(err, ErrNothing) {
		t.Errorf("without a failure: %v", err)
	}
	write(report.Error)
	c, err := newChoice(Options{Scope: Scope{LastFailed: true}, Output: Output{ReportDir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := c.cells(fake.Toy(t).Ops, toyCallers(), nil)
	if got := specsOf(cells); err != nil || len(got) != 1 || !got[pattern{"affine", "fake", "shape"}] {
		t.Errorf("got %v, %v", got, err)
	}
}

// Jobs get about as much of what took long before, and nothing twice.
func TestBalance(t *testing.T) {
	cells, err := (&choice{}).cells(fake.Toy(t).Ops, toyCallers(), nil)
	if err != nil {
		t.Fatal(err)
	}
	known := map[[2]string]float64{}
	for _, c := range cells[5:] {
		known[[2]string{c.Op.Name, c.Caller}] = 1
	}
	for i, seconds := range []float64{0, 100, 10, 0, 90} {
		known[[2]string{cells[i].Op.Name, cells[i].Caller}] = seconds
	}
	parts := balance(cells, 2, known)
	seen := map[pattern]bool{}
	for i, part := range parts {
		long := 0
		for _, c := range part {
			if known[[2]string{c.Op.Name, c.Caller}] >= 90 {
				long++
			}
		}
		if long != 1 {
			t.Errorf("part %d has %d of the long cells", i, long)
		}
		for spec := range specsOf(part) {
			if seen[spec] {
				t.Errorf("%v is in both parts", spec)
			}
			seen[spec] = true
		}
	}
	if len(seen) != len(specsOf(cells)) {
		t.Errorf("the parts have %d specs, want %d", len(seen), len(specsOf(cells)))
	}
	if parts := balance(cells[:1], 8, nil); len(parts) != 1 {
		t.Errorf("one cell makes %d parts", len(parts))
	}
}

// One op through one framework is shared between processes by its checks; what has several frameworks stays whole.
func TestSplit(t *testing.T) {
	op := fake.Toy(t).Ops[:1]
	callers := []string{calls.DefinitionName, "torch"}
	cells, err := (&choice{}).cells(op, callers, nil)
	if err != nil || len(cells) != 2 {
		t.Fatal(cells, err)
	}
	for jobs, want := range map[int][]int{1: {2}, 2: {2, 1}, 3: {2, 1, 1}} {
		var got []int
		seen := map[pattern]bool{}
		for _, part := range balance(split(cells, jobs), jobs, map[[2]string]float64{{op[0].Name, "torch"}: 30}) {
			got = append(got, len(part))
			for spec := range specsOf(part) {
				if seen[spec] {
					t.Errorf("%d jobs: %v is in two parts", jobs, spec)
				}
				seen[spec] = true
			}
		}
		slices.SortFunc(got, func(a, b int) int { return b - a })
		if !slices.Equal(got, want) || len(seen) != len(specsOf(cells)) {
			t.Errorf("%d jobs: got parts of %d cells with %d specs, want %d with %d", jobs, got, len(seen), want, len(specsOf(cells)))
		}
	}
	more, err := (&choice{}).cells(op, append(callers, "jax"), nil)
	if err != nil || len(split(more, 2)) != len(more) {
		t.Errorf("got %d cells, %v", len(split(more, 2)), err)
	}
}

// A file of known failures may be for several adaptors.
func TestKnownFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.toml")
	text := `[[known]]
op = "affine"
check = "value"
reason = "everywhere"

[[known]]
adaptor = "torch"
op = "affine"
check = "shape"
reason = "there"
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Subject: Subject{Project: fake.Toy(t)}, Scope: Scope{Known: path}}
	for adaptor, want := range map[string]int{"torch": 2, "jax": 1} {
		if known, err := knownOf(o, nil, adaptor); err != nil || len(known) != want {
			t.Errorf("%s: %v, %v", adaptor, known, err)
		}
	}
	o.Known = path + "-missing"
	if _, err := knownOf(o, nil, "torch"); !errors.Is(err, ErrInput) {
		t.Errorf("a file that is named and missing: %v", err)
	}
}

// An entry that no result can match is told: it would hide nothing, and never leave.
func TestKnownNames(t *testing.T) {
	dir := t.TempDir()
	o := Options{Subject: Subject{Project: fake.Toy(t)}, Scope: Scope{Known: filepath.Join(dir, "known.toml")}}
	for text, good := range map[string]bool{
		`op = "affine"` + "\n" + `check = "value"`:                                 true,
		`op = "affine"` + "\n" + `check = "gradient"`:                              true,
		`op = "affine"` + "\n" + `check = "gradient"` + "\n" + `adaptor = "torch"`: false,
		`op = "affine"` + "\n" + `check = "value"` + "\n" + `adaptor = "op_call"`:  true,
		`op = "affine"` + "\n" + `check = "value"` + "\n" + `adaptor = "torhc"`:    false,
		`op = "afine"` + "\n" + `check = "value"`:                                  false,
		`op = "affine"` + "\n" + `check = "values"`:                                false,
		`op = "*"` + "\n" + `check = "value"`:                                      false,
	} {
		if err := os.WriteFile(o.Known, []byte("[[known]]\nreason = \"r\"\n"+text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := knownOf(o, nil, "torch"); (err == nil) != good || err != nil && !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := checkKnown(o, nil, []known.Failure{{Op: "affine", Check: "value", Adaptor: "jax"}}, "torch"); err == nil {
		t.Error("an entry of another adaptor in the file of one")
	}
}

// A line may name what the other options leave out; together they must leave something.
func TestOnlyBesideOthers(t *testing.T) {
	c := choice{only: []pattern{{"affine", "fake", "value"}, {"affine", "other", "value"}}}
	if cells, err := c.cells(fake.Toy(t).Ops, toyCallers()[:2], nil); err != nil || len(specsOf(cells)) != 1 {
		t.Errorf("got %v, %v", cells, err)
	}
	if _, err := c.cells(fake.Toy(t).Ops, toyCallers()[:1], nil); !errors.Is(err, ErrUsage) {
		t.Errorf("without any of them: %v", err)
	}
	empty := 0
	for c.parts = 4; c.part < c.parts; c.part++ {
		if _, err := c.cells(fake.Toy(t).Ops, toyCallers(), nil); errors.Is(err, ErrNothing) {
			empty++
		} else if err != nil {
			t.Error(err)
		}
	}
	if empty != 2 {
		t.Errorf("%d of 4 shards of two specs are empty, want 2", empty)
	}
}

// Two frameworks of the same duration get a process each: what the first op costs is paid once.
func TestBalanceKeepsFrameworksTogether(t *testing.T) {
	var cells []Cell
	for _, op := range fake.Toy(t).Ops {
		for _, name := range []string{"one", "two"} {
			cells = append(cells, Cell{Op: op, Caller: name})
		}
	}
	for i, part := range balance(cells, 2, nil) {
		for _, c := range part {
			if c.Caller != part[0].Caller {
				t.Errorf("part %d has %s beside %s", i, c.Caller, part[0].Caller)
			}
		}
	}
}
