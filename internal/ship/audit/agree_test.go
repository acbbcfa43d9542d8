package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// verdict is what the other judges say of a library.
type verdict struct {
	Auditwheel *struct {
		Versions  bool
		Libraries []string
	}
	Kernel *struct {
		Versions bool
		Python   []string
	}
	AuditwheelError string `json:"auditwheel_error"`
	KernelError     string `json:"kernel_error"`
}

// judges asks auditwheel and kernel-abi-check.
func judges(t *testing.T, files []string) []verdict {
	t.Helper()
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no interpreter")
	}
	cmd := exec.Command(python, filepath.Join("testdata", "judges.py"))
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(files, "\n")), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []verdict
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var v verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, v)
	}
	if len(all) != len(files) {
		t.Fatalf("%d verdicts of %d files", len(all), len(files))
	}
	return all
}

// frameworks are allowed by us only: what loads such a library has loaded them.
var frameworks = []string{"libtorch_cpu.so"}

// TestAgreement: where auditwheel or kernel-abi-check judge the same, they say the same. kernel-abi-check reads the symbols that
// stripping takes away, so stripped libraries are auditwheel's and ours.
func TestAgreement(t *testing.T) {
	var names, files []string
	for name, s := range samples {
		file := s.build(t)
		names, files = append(names, name), append(files, file)
		if s.patch == nil {
			run(t, "strip", "-o", file+".stripped", file)
			names, files = append(names, name+" (stripped)"), append(files, file+".stripped")
		}
	}
	compared := 0
	for i, v := range judges(t, files) {
		t.Run(names[i], func(t *testing.T) {
			ours, err := File(files[i], Rules{})
			if err != nil {
				t.Fatal(err)
			}
			found := codes(ours)
			has := func(code string) bool { return slices.Contains(found, code) }
			if has("A009") || has("A001") {
				if v.Auditwheel != nil && v.Auditwheel.Versions && len(v.Auditwheel.Libraries) == 0 && v.Kernel != nil && !has("A001") {
					t.Errorf("we find %v, the others nothing", found)
				}
				return
			}
			if v.Auditwheel == nil || v.Kernel == nil {
				t.Fatalf("no verdict: %s %s", v.AuditwheelError, v.KernelError)
			}
			compared++
			foreign := slices.DeleteFunc(v.Auditwheel.Libraries, func(l string) bool { return slices.Contains(frameworks, l) })
			if v.Auditwheel.Versions == has("A002") || len(foreign) > 0 != has("A003") {
				t.Errorf("auditwheel says %+v, we %v", *v.Auditwheel, found)
			}
			stripped := ours.Libraries[0].Stripped
			if !stripped && v.Kernel.Versions == has("A002") || !stripped && len(v.Kernel.Python) > 0 != has("A006") {
				t.Errorf("kernel-abi-check says %+v, we %v", *v.Kernel, found)
			}
		})
	}
	if compared < len(samples) {
		t.Errorf("compared %d libraries only", compared)
	}
}

// TestStableABI compares name by name, for all names that the test's interpreter has or that we believe stable.
func TestStableABI(t *testing.T) {
	names := append(strings.Fields(stableABI), "PyUnicode_New", "PyCode_New", "_PyLong_AsInt", "PyType_GetName", "PyFrame_GetBack",
		"PyObject_CallNoArgs", "PyBuffer_Release", "PyModule_AddType", "PyObject_Vectorcall", "_Py_HashSecret", "PyErr_SetHandledException")
	slices.Sort(names)
	names = slices.Compact(names)
	var source strings.Builder
	for _, name := range names {
		fmt.Fprintf(&source, "extern int %s;\n", name)
	}
	source.WriteString("__attribute__((visibility(\"default\"))) int* __tvm_ffi_all[] = {")
	for _, name := range names {
		fmt.Fprintf(&source, "&%s,", name)
	}
	file := sample{source: source.String() + "};\n"}.build(t)
	theirs := judges(t, []string{file})[0].Kernel
	var ours []string
	for _, name := range names {
		if !slices.Contains(strings.Fields(stableABI), name) {
			ours = append(ours, name)
		}
	}
	if theirs == nil || !slices.Equal(slices.Compact(theirs.Python), ours) {
		t.Errorf("unstable: kernel-abi-check %+v, we %v", theirs, ours)
	}
}
