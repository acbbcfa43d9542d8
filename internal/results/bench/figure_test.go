package bench_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/bench"
)

// figure is one of a call.
func figure(name, unit string, low, median, high float64) bench.Figure {
	return bench.Figure{Name: name, What: "what " + name + " means", Unit: unit, Value: &bench.Spread{Low: low, Median: median, High: high}, Better: bench.Less}
}

func exact(name string, n float64) bench.Figure {
	f := figure(name, "calls", n, n, n)
	f.Exact = true
	return f
}

// measured is a result of figures only.
func measured(figures ...bench.Figure) *bench.Result {
	return &bench.Result{Schema: bench.Schema, Collection: "demo", Date: "2026-11-26T10:00:00Z", Figures: figures, Commands: []string{"opcast bench"}}
}

func TestFigureTables(t *testing.T) {
	r := measured(
		figure("call/scale/torch/ratio", bench.Ratio, 1.1, 1.2, 1.3), exact("call/scale/torch/frames", 2),
		figure("call/scale/numpy/ratio", bench.Ratio, 2, 2, 2), exact("lines/scale/definition", 17),
		figure("size/library/bytes", bench.Bytes, 3<<20, 3<<20, 3<<20), figure("build/clean/wall", bench.Seconds, 60, 61.5, 63),
		bench.Figure{Name: "alone", Unit: bench.Seconds, Missing: "no compiler"},
	)
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `call         ratio             frames
scale/torch  1.20 (1.10-1.30)  2
scale/numpy  2.00              -
lines  definition
scale  17
size     bytes
library  3.00 MiB
build  wall
clean  61.5 s (60.0-63.0 s)
alone  value
       -
not measured: alone: no compiler
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	page, err := r.HTML(bench.Told{})
	if err != nil || !strings.Contains(string(page), "<h2>call</h2>") || !strings.Contains(string(page), "<td>scale/torch</td><td>1.20 (1.10-1.30)</td><td>2</td>") {
		t.Errorf("%v\n%s", err, page)
	}
	text := r.Markdown(nil)
	for _, line := range []string{"| call | ratio | frames |", "| scale/torch | 1.20 (1.10-1.30) | 2 |", "| library | 3.00 MiB |"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func budgets(t *testing.T, text string) ([]bench.Budget, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "budgets.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return bench.ReadBudgets(path)
}

const promises = `
[[budget]]
text = "a call"
figures = ["call/*/ratio"]
except = ["call/slow/*"]
at_most = 1.5

[[budget]]
text = "kernels, each"
figures = ["workload/**", "kernel/*/ratio"]
at_least = 1.0

[[budget]]
text = "kernels, mean"
figures = ["kernel/**"]
take = "mean"
at_least = 2.0

[[budget]]
text = "on a GPU"
figures = ["cuda/**"]
at_least = 0.9
absent = "no GPU"

[[budget]]
text = "imports"
figures = ["import/jax/time"]
at_most = 0.3
`

func TestBudgets(t *testing.T) {
	list, err := budgets(t, promises)
	if err != nil {
		t.Fatal(err)
	}
	r := measured(
		figure("call/a/ratio", bench.Ratio, 1.1, 1.2, 1.6), figure("call/slow/ratio", bench.Ratio, 9, 9, 9),
		figure("kernel/a/ratio", bench.Ratio, 4, 4, 4), figure("kernel/b/ratio", bench.Ratio, 0.7, 0.8, 0.9),
		bench.Figure{Name: "import/jax/time", Unit: bench.Seconds, Missing: "no jax"},
	)
	r.Rows = sample().Rows[:1] // half as fast as its peer
	judged := r.Judge(list)
	var b bytes.Buffer
	if err := bench.WriteBudgets(&b, judged); err != nil {
		t.Fatal(err)
	}
	want := `budget         limit     measured  quartiles  verdict
a call         ≤ 1.50    1.20      1.10-1.60  holds?
kernels, each  ≥ 1.00    0.50      0.49-0.51  misses by 50 %, 1 of 3 hold, the worst: workload/scale/model_step/f32/torch/1
kernels, mean  ≥ 2.00    1.79      1.67-1.90  misses by 11 %
on a GPU       ≥ 0.9     -         -          not measured: no GPU
imports        ≤ 300 ms  -         -          not measured: import/jax/time: no jax
1 of 5 budgets hold, 2 are missed, 2 were not measured as a whole
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	page, err := r.HTML(bench.Told{Judged: judged})
	if err != nil || !strings.Contains(string(page), "misses by 11 %") || !strings.Contains(r.Markdown(judged), "| a call | ≤ 1.50 | 1.20 | 1.10-1.60 | holds? |\n") {
		t.Errorf("%v\n%s", err, page)
	}
}

// What is missing is told, and does not hold; numbers of different kinds are not compared.
func TestBudgetsInPart(t *testing.T) {
	list, err := budgets(t, `
budget = [
  { text = "some", figures = ["call/*/ratio"], at_most = 4 },
  { text = "mixed", figures = ["call/a/*"], at_most = 4 },
  { text = "zero", figures = ["count/*"], at_most = 4, take = "mean" },
  { text = "near", figures = ["near/*"], at_most = 60 },
]`)
	if err != nil {
		t.Fatal(err)
	}
	r := measured(
		figure("call/a/ratio", bench.Ratio, 2, 2, 2), bench.Figure{Name: "call/b/ratio", Unit: bench.Ratio, Missing: "it crashed"},
		figure("call/a/time", bench.Seconds, 1, 1, 1), exact("count/a", 0), figure("near/a", bench.Seconds, 60.01, 60.01, 60.01),
	)
	var got []string
	judged := r.Judge(list)
	for i := range judged {
		got = append(got, judged[i].Verdict())
	}
	want := []string{
		"holds, 1 of 2 hold, 1 not measured: call/b/ratio: it crashed", "not measured: call/a/time is in s, and call/a/ratio in ratio",
		"holds", "misses by 0.017 %",
	}
	if diff := cmp.Diff(want, got); diff != "" || judged[0].Holds() {
		t.Errorf("%v %s", judged[0].Holds(), diff)
	}
	if tally := bench.Tally(judged); tally != "1 of 4 budgets hold, 1 are missed, 2 were not measured as a whole" {
		t.Error(tally)
	}
}

func TestBudgetMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "it has no [[budget]]",
		"[[budget]]\ntext = 1":                ":2: budget.text: a mistake in the budgets",
		"[[budget]]\nfigures = ['a']":         "text: expected what is promised",
		"[[budget]]\ntext = 'a'":              "figures: expected names of figures",
		"[[budget]]\ntext='a'\nlimit=1":       "unknown key",
		"[[budget]]\ntext='a'\nfigures=['a']": "expected one of at_most and at_least",
		"[[budget]]\ntext='a'\nfigures=['a']\nat_most=0":               "expected a limit above 0",
		"[[budget]]\ntext='a'\nfigures=['a']\nat_most=1\ntake='worst'": `take: expected "each" or "mean", got "worst"`,
	} {
		if _, err := budgets(t, text); !errors.Is(err, bench.ErrBudgets) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := bench.ReadBudgets("nowhere"); !errors.Is(err, bench.ErrBudgets) {
		t.Error(err)
	}
}

// One frame more in a call is told, however fast the machine is; times and what has become better are not.
func TestFiguresSince(t *testing.T) {
	old := measured(
		exact("call/scale/torch/frames", 4), exact("call/scale/numpy/frames", 1), exact("call/gone/numpy/frames", 1),
		figure("call/scale/torch/ratio", bench.Ratio, 1.9, 2, 2.1), figure("call/scale/numpy/ratio", bench.Ratio, 1.9, 2, 2.1),
		figure("call/scale/torch/time", bench.Nanoseconds, 100, 100, 100),
	)
	now := measured(
		exact("call/scale/torch/frames", 5), exact("call/scale/numpy/frames", 0),
		figure("call/scale/torch/ratio", bench.Ratio, 2.3, 2.4, 2.5), figure("call/scale/numpy/ratio", bench.Ratio, 2.15, 2.3, 2.5),
		figure("call/scale/torch/time", bench.Nanoseconds, 900, 900, 900),
	)
	compared := now.Since(old)
	want := []string{"call/scale/torch/frames: 5 calls, before 4 calls", "call/scale/torch/ratio: 2.40, before 2.00"}
	if diff := cmp.Diff(want, compared.Lines()); diff != "" || len(compared.Figures) != 4 {
		t.Error(diff, len(compared.Figures))
	}
	for _, f := range compared.WorseFigures() {
		if f.After.Op() != "scale" {
			t.Errorf("%s is about %q", f.After.Name, f.After.Op())
		}
	}
	again := measured(exact("call/scale/torch/frames", 5), figure("call/scale/torch/ratio", bench.Ratio, 1.9, 2, 2.2))
	now.Confirm(again, old)
	if diff := cmp.Diff(want[:1], now.Since(old).Lines()); diff != "" {
		t.Error(diff)
	}
	grown, less := figure("kernel/a/ratio", bench.Ratio, 2, 2, 2), figure("kernel/a/ratio", bench.Ratio, 1, 1, 1)
	grown.Better, less.Better = bench.More, bench.More
	if lines := measured(less).Since(measured(grown)).Lines(); len(lines) != 1 {
		t.Errorf("of ratios of which more is better: got %q", lines)
	}
}

func TestJoin(t *testing.T) {
	first, second := sample(), measured(exact("a/b", 1))
	second.Versions = map[string]string{"jax": "0.10"}
	got := bench.Join([]*bench.Result{first, second, second, first}) // once each
	if len(got.Rows) != 2 || len(got.Figures) != 1 || got.Versions["jax"] != "0.10" || got.Versions["torch"] != "2.15.0" || len(first.Versions) != 2 {
		t.Errorf("got %+v", got)
	}
	if got.Machine != first.Machine || len(got.LeftOut) != 3 || len(got.Commands) != 1 {
		t.Errorf("got %+v", got)
	}
}
