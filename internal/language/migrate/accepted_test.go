package migrate_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/migrate"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/tomlfmt"
)

// words are names as people and languages have them.
var words = strings.Fields(`x y out input output weight bias scale eps N T I O n rows batch len lambda class self dtype device stream float double
	result q k v cache state positions slot_mapping cu_seqlens _in __x x_ X rowStarts 2d a__b tensor xp int8_t opcast OPCAST_X std EOF errno
	grad_x d_out isnan NULL args None True out_ y_2 n_x größe`)

// literals are defaults, some of them none that a definition can hold.
var literals = strings.Fields(`1 -1 0 1e-6 1.0f 1e400 nan True false None std::nullopt at::kFloat [1,2] {} {1,2} [] "text" 'a"b' at::Tensor() 9999999999999999999 \ "`)

// drawn is a random declaration of a function, in each of the forms that are read.
func drawn(r *rand.Rand, i int) (form int, text string) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	form = r.IntN(3)
	types := [][]string{
		{"Tensor", "Tensor(a!)", "Tensor?", "Tensor(b!)?", "Tensor[]", "Tensor(a!)[]", "Tensor[]?", "int", "int[]", "int[2]", "int[3]?", "float", "float?", "bool",
			"bool?", "str", "str?", "ScalarType", "ScalarType?", "Scalar", "Device?", "SymInt", "int[1]"},
		{"at::Tensor", "const at::Tensor&", "at::Tensor&", "std::optional<at::Tensor>", "c10::optional<at::Tensor>&", "at::TensorList", "int64_t", "double",
			"std::optional<double>", "bool", "std::string", "at::IntArrayRef", "std::vector<int64_t>", "at::ScalarType", "std::optional<at::ScalarType>"},
		{"float*", "const float*", "T*", "const T*", "void*", "const void*", "const int*", "int64_t*", "const half*", "uint8_t*", "const double*", "int", "int64_t", "float",
			"bool", "const char*", "unsigned*", "unsigned long", "const unsigned char*", "cudaStream_t", "std::string", "Config&", "at::IntArrayRef"},
	}[form]
	var params []string
	for range 1 + r.IntN(6) {
		p := pick(types) + " " + pick(words)
		if r.IntN(4) == 0 {
			p += "=" + pick(literals)
		}
		params = append(params, p)
	}
	list := "(" + strings.Join(params, ", ") + ")"
	name := fmt.Sprintf("f%d_%s", i, pick(words))
	switch form {
	case 0:
		result := pick([]string{"Tensor", "()", "(Tensor, Tensor out)", "Tensor[]", "Tensor(a!)", "(Tensor q, Tensor[] q)"})
		return form, "m.def(R\"(" + name + list + " -> " + result + ")\");"
	case 1:
		result := pick([]string{"at::Tensor", "void", "std::tuple<at::Tensor, at::Tensor>", "std::vector<at::Tensor>"})
		return form, result + " " + name + list + ";"
	}
	return form, pick([]string{"", "template <typename T> ", "template <class T, int n> "}) + pick([]string{"void ", "int ", "cudaError_t "}) + name + list + ";"
}

// TestAccepted: whatever is drafted, `opcast check` accepts, and `opcast fmt` can lay out.
func TestAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	drafted, devices := 0, [][]string{nil, {"cpu"}, {"cuda"}, {"cuda", "cpu"}}
	for round := range 40 {
		var texts [3]strings.Builder
		var bound strings.Builder
		for i := range 60 {
			form, text := drawn(r, i)
			fmt.Fprintln(&texts[form], text)
			if form == 1 {
				name := text[strings.Index(text, " f")+1 : strings.Index(text, "(")]
				fmt.Fprintf(&bound, "m.def(\"%s\", &%[1]s, \"A \\\"doc\\\".\");\n", name)
			}
		}
		sources := []migrate.Source{
			{Name: "lib.cpp", Text: "TORCH_LIBRARY(kit, m) {\n" + texts[0].String() + "}\n"},
			{Name: "bind.cpp", Text: texts[1].String() + "PYBIND11_MODULE(kit, m) {\n" + bound.String() + "}\n"},
			{Name: "raw/kernels.h", Text: texts[2].String()},
		}
		functions, _ := migrate.Read(sources, migrate.Vocabulary{})
		drafts, _ := migrate.Drafts(functions, sources, migrate.Project{Namespace: "kit_ops", Devices: devices[round%len(devices)], Kind: 3})
		accepted(t, drafts, devices[round%len(devices)])
		drafted += len(drafts)
	}
	if drafted < 1000 {
		t.Errorf("only %d drafts", drafted)
	}
	t.Log(drafted, "drafts")
}

func accepted(t *testing.T, drafts []migrate.Draft, devices []string) {
	t.Helper()
	if devices == nil {
		devices = migrate.Devices(drafts)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("opcast.toml", "name = \"kit\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\ndevices = [\""+strings.Join(devices, `", "`)+"\"]\n")
	texts := map[string]string{}
	for _, d := range drafts {
		text, err := tomlfmt.Format([]byte(d.Definition))
		if err != nil {
			t.Errorf("%v in\n%s", err, d.Definition)
		}
		texts["opdefs/"+d.Name+".toml"] = string(text)
		write("opdefs/"+d.Name+".toml", string(text))
	}
	_, diags, err := load.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Errorf("%s\n%s", d, texts[d.File])
	}
}
