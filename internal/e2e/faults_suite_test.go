package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Whenever `opcast test` is killed or cannot write, the next one, of sources that were edited meanwhile, gives the results of a
// fresh copy, and no temporary folder stays.
func TestSuiteUnderFaults(t *testing.T) {
	t.Parallel()
	interpreter, cxx := withoutTorch(t), quickCompiler(t)
	opcast := func(dir string, words ...string) *exec.Cmd {
		cmd := command(t, "", append([]string{tooltest.Path(t), "-C", filepath.Join(dir, "project")}, append(words, "--python", interpreter)...)...)
		cmd.Env = append(os.Environ(), "CXX="+cxx, "TMPDIR="+filepath.Join(dir, "tmp"), uncached)
		return cmd
	}
	suite := func(dir string) *exec.Cmd {
		return opcast(dir, "test", "scale", "--adaptor", "native", "--only", filepath.Join(dir, "only"))
	}
	begin := func(t *testing.T, value string) (dir string) {
		dir = t.TempDir()
		run(t, command(t, "", "cp", "-a", pairProject(t), filepath.Join(dir, "project")))
		factor(t, filepath.Join(dir, "project"), value)
		write(t, filepath.Join(dir, "only"), []byte("scale native value\n"))
		if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, opcast(dir, "build"))
		run(t, suite(dir))
		return dir
	}
	want := results(t, begin(t, "0.5f * 2"))
	for name, body := range map[string]func(f *faults){
		"killed":  func(f *faults) { f.kills(20) },
		"refused": func(f *faults) { f.refusals([]int{5}, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, "1.0f")
			body(&faults{
				t: t, dir: dir, stale: duplicate(t, dir), want: want,
				command: func() *exec.Cmd { return suite(dir) },
				edit:    func() { factor(t, filepath.Join(dir, "project"), "0.5f * 2") },
				result:  func() map[string]string { return results(t, dir) },
			})
		})
	}
}

// results are the report of a project without times and without what it says of the report before it, the libraries, and
// what lies in the folder for temporary files.
func results(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	lefts, _ := filepath.Glob(filepath.Join(dir, "tmp", "*"))
	for _, left := range lefts {
		all[left] = "there"
	}
	report := map[string]any{}
	for name, want := range tree(t, filepath.Join(dir, "project")) {
		if filepath.Ext(name) == ".so" {
			all[name] = want
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "project/build/report/report.json"))
	if err = errors.Join(err, json.Unmarshal(bytes.ReplaceAll(text, []byte(dir), nil), &report)); err != nil {
		t.Error(err)
	}
	delete(report, "changes")
	all["report"] = fmt.Sprint(untimed(report))
	return all
}

// untimed takes the times out of what JSON holds.
func untimed(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "seconds")
		delete(v, "started")
		for _, inner := range v {
			untimed(inner)
		}
	case []any:
		for _, inner := range v {
			untimed(inner)
		}
	}
	return value
}
