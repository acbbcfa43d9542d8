package breaking

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

const (
	manifestText = "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\ndevices = [\"cpu\", \"cuda\"]\nadaptors = [\"torch\", \"jax\"]\n"
	scale        = `doc = "Scale x."
kind = 3
dtypes = { T = ["f32", "f16"], W = ["f32", "f16"] }
inputs = [
  { name = "x",      type = "T[*, N]", doc = "Rows." },
  { name = "weight", type = "W[N]", min = 0, doc = "Factors." },
  { name = "bias",   type = "T[N]", optional = true, doc = "Summands." },
]
attrs = [
  { name = "eps",  type = "float", default = 1e-6, min = 0, max = 2, doc = "Small." },
  { name = "size", type = "int", default = "N + 1", doc = "Size." },
  { name = "mode", type = "str", default = "a", one_of = ["a", "b"], doc = "How." },
]
let.P = "N + 1"
require = ["N % 2 == 0", "T != f16 or P > 3"]
outputs = [
  { name = "y", type = "T[*, P]", doc = "Rows." },
  { name = "lse", type = "f32[*]", lse = { base = "e", empty = "-inf" }, doc = "Log-sum-exps." },
]
reference = "return x, x"
`
)

// project reads a collection of one op, changed in some places: old text, new text, and so on.
func project(t *testing.T, changes ...string) *opdef.Project {
	t.Helper()
	dir := t.TempDir()
	replace := strings.NewReplacer(changes...)
	name := "scale"
	if renamed := replace.Replace("@"); renamed != "@" {
		name = renamed
	}
	for file, text := range map[string]string{"opcast.toml": manifestText, "opdefs/" + name + ".toml": scale} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(replace.Replace(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, diags, err := load.Load(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	return p
}

// TestCompare: each change, from left to right, and what it means; "" is nothing that anybody notices.
func TestCompare(t *testing.T) {
	for name, tt := range map[string]struct {
		changes []string
		want    string
	}{
		"nothing":        {nil, ""},
		"text":           {[]string{"Rows.", "Lines."}, ""},
		"name of a size": {[]string{"N", "M", "P", "Q"}, ""},
		"name of dtypes": {[]string{"T = [", "V = [", "T[", "V[", "T !=", "V !="}, ""},
		"let inline":     {[]string{"let.P = \"N + 1\"\n", "", "P > 3", "N+1 > 3", "P]", "N+1]"}, ""},
		"spaces":         {[]string{"N % 2 == 0", "0==N%2", `"N + 1", doc`, `"1+N", doc`}, ""},
		"conjunction":    {[]string{`"N % 2 == 0", "T`, `"N % 2 == 0 and (T`, `P > 3"]`, `P > 3)"]`}, ""},
		"looser":         {[]string{" min = 0, doc = \"Factors", " min = -1, doc = \"Factors"}, ""},
		"loose":          {[]string{" min = 0, doc = \"Factors", " doc = \"Factors"}, ""},
		"limit of sizes": {[]string{" min = 0, doc = \"Factors", " min = 0, max = \"N\", doc = \"Factors"}, "breaks: the contents of the input weight"},
		"collection":     {[]string{`"demo"`, `"demo2"`}, "breaks: the collection was named demo"},
		"adaptor":        {[]string{`, "jax"`, ""}, "breaks: there is no package for jax any more"},
		"device":         {[]string{`, "cuda"`, ""}, "breaks: the ops do not run on cuda any more"},
		"removed":        {[]string{"@", "scale_rows"}, "breaks: the op is gone, and its kind 3 is that of scale_rows"},
		"kind":           {[]string{"kind = 3", "kind = 4"}, "breaks: kind was 3, and is 4"},
		"parameters":     {[]string{`let.P =`, "order = [\"x\", \"weight\", \"eps\", \"bias\"]\nlet.P ="}, "breaks: callers in Python give other parameters by their place: [x weight bias], and [x weight eps bias]"},
		"more by place":  {[]string{`let.P =`, "order = [\"x\", \"weight\", \"bias\", \"eps\"]\nlet.P ="}, ""},
		"order":          {[]string{`"x",     `, `"weight",`, `"weight",`, `"x",`}, "breaks: the inputs have another order: [x weight bias], and [weight x bias]"},
		"renamed input":  {[]string{`"weight",`, `"factor",`}, "breaks: the input weight is gone"},
		"required":       {[]string{" optional = true,", ""}, "breaks: the input bias is required now"},
		"new input":      {[]string{"]\nattrs", "  { name = \"more\", type = \"T[N]\", optional = true, doc = \"More.\" },\n]\nattrs"}, "breaks: the input more is new: calls, and programs that JAX stored, may leave it out"},
		"inserted":       {[]string{"  { name = \"weight\"", "  { name = \"more\", type = \"T[N]\", doc = \"More.\" },\n  { name = \"weight\""}, "breaks: a new input stands before old ones"},
		"overwritten":    {[]string{`"T[*, N]", doc`, `"T[*, N]", mutated = true, doc`}, "breaks: the input x is overwritten now"},
		"shape":          {[]string{`"W[N]"`, `"W[2*N]"`}, "breaks: the input weight was W[N], and is W[2*N]"},
		"contents":       {[]string{" min = 0, doc = \"Factors", " min = 1, doc = \"Factors"}, "breaks: the contents of the input weight have to keep to other limits"},
		"dtype":          {[]string{`T = ["f32", "f16"]`, `T = ["f32"]`, " != f16", " == f32"}, "breaks: x cannot be f16 any more"},
		"more dtypes":    {[]string{`T = ["f32", "f16"]`, `T = ["f32", "f16", "bf16"]`}, ""},
		"tied":           {[]string{", W = [\"f32\", \"f16\"]", "", "W[N]", "T[N]"}, "breaks: x and weight need the same dtype now"},
		"result's dtype": {[]string{`"T[*, P]"`, `"W[*, P]"`}, "breaks: y has not the dtype of x any more"},
		"attribute":      {[]string{"  { name = \"mode\", type = \"str\", default = \"a\", one_of = [\"a\", \"b\"], doc = \"How.\" },\n", ""}, "breaks: the attribute mode is gone"},
		"new attribute":  {[]string{"]\nlet", "  { name = \"more\", type = \"int\", default = 1, doc = \"More.\" },\n]\nlet"}, "breaks: the attribute more is new: calls"},
		"needed":         {[]string{"]\nlet", "  { name = \"more\", type = \"int\", doc = \"More.\" },\n]\nlet"}, "breaks: the attribute more is new, and required"},
		"type":           {[]string{`"int", default = "N + 1"`, `"float", default = "N + 1"`}, "breaks: the attribute size was of type int, and is of type float"},
		"default":        {[]string{"1e-6", "1e-5"}, "breaks: the default of the attribute eps was 1e-06, and is 1e-05"},
		"expression":     {[]string{`default = "N + 1"`, `default = "N + 2"`}, "breaks: the default of the attribute size was N + 1, and is N + 2"},
		"no default":     {[]string{" default = 1e-6,", ""}, "breaks: the attribute eps has no default any more"},
		"minimum":        {[]string{"min = 0, max", "min = 1e-9, max"}, "breaks: the attribute eps has to be at least 1e-09"},
		"maximum":        {[]string{"max = 2", "max = 1"}, "breaks: the attribute eps has to be at most 1"},
		"wider":          {[]string{"max = 2", "max = 3", `"b"]`, `"b", "c"]`}, ""},
		"word":           {[]string{`, "b"]`, "]"}, `breaks: the attribute mode cannot be "b" any more`},
		"condition":      {[]string{"N % 2", "N % 4"}, "breaks: calls have to keep N % 4 == 0"},
		"fewer":          {[]string{`"N % 2 == 0", `, ""}, ""},
		"result":         {[]string{"]\nreference", "  { name = \"z\", type = \"T[N]\", doc = \"More.\" },\n]\nreference"}, "breaks: the output z is new: calls return one more"},
		"result's shape": {[]string{`"f32[*]"`, `"f32[*, N]"`}, "breaks: the output lse was f32[*], and is f32[*, N]"},
		"convention":     {[]string{`"e", empty`, `"2", empty`}, "breaks: the output lse is a log-sum-exp of another convention"},
		"bits":           {[]string{"kind = 3", "kind = 3\ndeterministic = false"}, "breaks: two runs may differ in bits now"},
		"autocast":       {[]string{"kind = 3", "kind = 3\nautocast = \"lower\""}, `breaks: autocast was "widest", and is "lower"`},
		"reference":      {[]string{"return x, x", "return x, 2 * x"}, "note: the reference has another text"},
		"deprecated":     {[]string{"kind = 3", "kind = 3\ndeprecated = \"use y; removed in 0.5\""}, "note: the op is deprecated: use y; removed in 0.5"},
		"places":         {[]string{`"size", type = "int", default = "N + 1"`, `"mode", type = "str", default = "a", one_of = ["a", "b"]`, `"mode", type = "str", default = "a", one_of = ["a", "b"]`, `"size", type = "int", default = "N + 1"`}, "breaks: the attributes have another order: [eps size mode], and [eps mode size]"},
		"scratch":        {[]string{"]\nreference", "]\nscratch = [{ name = \"work\", type = \"f32[N]\", doc = \"Sums.\" }]\nreference"}, "breaks: the scratch was [], and is [work f32[N]]"},
		"no kernel":      {[]string{"reference =", "kernels = [{ name = \"scale\", device = \"cpu\" }]\nreference ="}, "breaks: the op has no kernel for cuda any more"},
		"bits of parts":  {[]string{"reference =", "kernels = [{ name = \"scale\", device = \"cpu\", parallel = [] }]\nreference ="}, "note: the kernel scale no longer gives parts along * the bits of the whole"},
		"architecture":   {[]string{"reference =", "kernels = [{ name = \"scale\", device = \"cpu\" }, { name = \"scale_cuda\", device = \"cuda\", arch = \">=90\" }]\nreference ="}, `note: the kernel scale_cuda is for the architecture ">=90"`},
		"kernel":         {[]string{"reference =", "kernels = [{ name = \"fast\", device = \"cpu\" }, { name = \"scale_cuda\", device = \"cuda\" }]\nreference ="}, "note: there is no kernel scale any more"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range Compare(project(t), project(t, tt.changes...)) {
				got = append(got, map[bool]string{true: "breaks: ", false: "note: "}[c.Breaks]+c.Text)
			}
			text := strings.Join(got, "\n")
			if (tt.want == "") != (text == "") || !strings.Contains(text, tt.want) {
				t.Errorf("got\n%s\nwant %s", text, tt.want)
			}
		})
	}
}

// What the old collection allowed or had, and the new one has not.
func TestCompareLosses(t *testing.T) {
	saving := project(t)
	saving.Ops[0].Outputs = append(saving.Ops[0].Outputs, opdef.Arg{Name: "rstd", Saved: true})
	for want, before := range map[string]*opdef.Project{
		"breaks: what is saved for the gradient was":                          saving,
		`breaks: the input x has to be denser: stride was "any", and is ""`:   project(t, `"T[*, N]", doc`, `"T[*, N]", stride = "any", doc`),
		"breaks: the library has no code for the architecture 80 any more":    project(t, "adaptors =", "cuda.arch = [\"80\"]\nadaptors ="),
		"breaks: the layer ScaleLayer does not stand for LlamaScale any more": layered(t, opdef.Layer{Name: "ScaleLayer", Classes: []string{"LlamaScale"}}),
		"note: the layer ScaleLayer reads modules in another way":             layered(t, opdef.Layer{Name: "ScaleLayer", Ignores: []string{"inplace"}}),
	} {
		var got []string
		for _, c := range Compare(before, layered(t, opdef.Layer{Name: "ScaleLayer"})) {
			got = append(got, map[bool]string{true: "breaks: ", false: "note: "}[c.Breaks]+c.Text)
		}
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}

// Two dtypes become a variable, and back; numbers that float64 cannot tell apart.
func TestCompareExactly(t *testing.T) {
	for _, tt := range []struct {
		before, after []string
		want          string
	}{
		{[]string{" optional = true,", ""}, nil, ""},
		// A dtype becomes a variable beside several sizes; variables that an attribute binds get other names.
		{several("f32", ""), several("T", `dtypes = { T = ["f32", "f16"] }`), ""},
		{chosen("O", "T"), chosen("P", "U"), ""},
		{[]string{"let.P = \"N + 1\"", "let.P = \"N + 2\""}, nil, "breaks: the output y is T[*, P] as before, with another size"},
		{[]string{"\"a\", one_of = [\"a\", \"b\"]", "\"nothing\""}, []string{"default = \"a\", one_of = [\"a\", \"b\"]", "optional = true"}, "breaks: the default of the attribute mode was nothing"},
		{[]string{"default = \"a\", one_of = [\"a\", \"b\"]", "optional = true"}, []string{"\"a\", one_of = [\"a\", \"b\"]", "\"nothing\""}, "breaks: the default of the attribute mode was nothing"},
		{[]string{"W = [\"f32\", \"f16\"]", "W = [\"f32\"]"}, nil, ""},
		{[]string{", W = [\"f32\", \"f16\"]", "", "W[N]", "f32[N]"}, nil, ""},
		{[]string{"T = [\"f32\", \"f16\"], ", "", "T[", "f32[", ", \"T != f16 or P > 3\"", ""}, []string{", \"T != f16 or P > 3\"", ""}, ""},
		{absent(`"f32", "f16"`), absent(`"f32", "f16", "bf16"`), ""},
		{absent(`"f32", "f16"`), absent(`"f16", "f32"`), "breaks: where bias is left out, its dtype counts as f16, and was f32"},
		{[]string{"\"T[*, P]", "\"f32[*, P]"}, nil, "breaks: y is f16 now where x is f16"},
		{[]string{`default = "N + 1"`, "max = 9223372036854775807"}, []string{`default = "N + 1"`, "max = 9223372036854775806"}, "breaks: the attribute size has to be at most 9223372036854775806"},
	} {
		var got []string
		for _, c := range Compare(project(t, tt.before...), project(t, tt.after...)) {
			got = append(got, map[bool]string{true: "breaks: ", false: "note: "}[c.Breaks]+c.Text)
		}
		if text := strings.Join(got, "\n"); (tt.want == "") != (text == "") || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%q to %q: got %q, want %s", tt.before, tt.after, got, tt.want)
		}
	}
}

// absent gives the optional input a dtype variable of its own, with its dtypes.
func absent(dtypes string) []string {
	return []string{`W = ["f32", "f16"]`, "W = [" + dtypes + "]", "W[N]", "T[N]", `"T[N]", doc = "Summands."`, `"W[N]", doc = "Summands."`, `"T[N]", optional`, `"W[N]", optional`}
}

// several replaces the definition by one with two sizes.
func several(dtype, head string) []string {
	return []string{scale, "doc = \"Add.\"\nkind = 3\n" + head + "\ninputs = [{ name = \"x\", type = \"f32[N]\", doc = \"X.\" }, { name = \"w\", type = \"" + dtype +
		"[M]\", doc = \"W.\" }]\noutputs = [{ name = \"y\", type = \"" + dtype + "[M]\", doc = \"Y.\" }]\nreference = \"return w\"\n"}
}

// chosen replaces it by one whose result has a dtype that an attribute chooses.
func chosen(out, in string) []string {
	list := ` = ["f32", "f16"]`
	return []string{scale, "doc = \"Cast.\"\nkind = 3\ndtypes = { " + in + list + ", " + out + list + " }\ninputs = [{ name = \"x\", type = \"" + in +
		"[N]\", doc = \"X.\" }]\nattrs = [{ name = \"out_dtype\", type = \"dtype\", binds = \"" + out + "\", default = \"" + in +
		"\", doc = \"D.\" }]\noutputs = [{ name = \"y\", type = \"" + out + "[N]\", doc = \"Y.\" }]\nreference = \"return x\"\n"}
}

// layered is the collection with an op that stands for a module.
func layered(t *testing.T, layer opdef.Layer) *opdef.Project {
	t.Helper()
	p := project(t)
	p.Ops[0].Layers = []opdef.Layer{layer}
	return p
}

// A gradient that is gone, and an op that is new.
func TestCompareOps(t *testing.T) {
	before, after := project(t), project(t)
	before.Ops[0].Backward = "scale_backward"
	extra := *after.Ops[0]
	extra.Name, extra.Kind = "other", 9
	after.Ops = append(after.Ops, &extra)
	got := Compare(before, after)
	if len(got) != 2 || !got[0].Breaks || got[0].Text != "the op has no gradient any more" || got[1].Breaks || got[1].Op != "other" {
		t.Errorf("%+v", got)
	}
	if gone := Compare(after, project(t)); len(gone) != 1 || gone[0].Text != "the op is gone" {
		t.Errorf("%+v", gone)
	}
}
