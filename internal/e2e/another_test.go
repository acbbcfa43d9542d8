package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/internal/results/report"
)

// another is a framework that opcast does not have. docs/adaptors.md says which files it takes.
const another = "array_api_strict"

// A framework is one folder of adaptors and no other change of the tool: the folder is laid over the sources, and what is
// built so generates an adaptor that keeps every promise of the suite.
func TestAnotherFramework(t *testing.T) {
	t.Parallel()
	interpreter := borrowed(t)
	tool, project := anotherTool(t), anotherProject(t)
	if code, _, text := opcast(t, "-C", project, "gen"); code != 1 || !strings.Contains(text, `unknown entry "`+another+`" of adaptors`) {
		t.Fatalf("the tool without it: exit code %d\n%s", code, text)
	}
	call := func(args ...string) (string, error) {
		out, err := command(t, project, append([]string{tool}, args...)...).CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"gen"}, {"gen", "--check"}, {"build", "--python", interpreter},
		{"test", "--python", interpreter, "--adaptor", another, "--adaptor", "numpy", "--report", "report"},
	} {
		if text, err := call(args...); err != nil {
			t.Fatalf("opcast %s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
	judge(t, filepath.Join(project, "report", "report.json"))
	spoilAnother(t, project)
	text, err := call("test", "affine", "--python", interpreter, "--adaptor", another)
	if err == nil || !strings.Contains(text, "affine, "+another+": Aliasing: out") {
		t.Errorf("an adaptor that copies where it must write was not found: %v\n%s", err, text)
	}
}

// anotherTool builds the tool with the framework's folder laid over its sources. It may replace nothing.
func anotherTool(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("testdata", "another")
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, file) // the walk begins there
		if !strings.HasPrefix(name, "adaptors/"+another+"/") {
			t.Errorf("%s is not in the framework's folder", name)
		}
		if _, err := os.Stat(filepath.Join(root(t), name)); err == nil {
			t.Errorf("%s is part of the tool already", name)
		}
		overlay.Replace[filepath.Join(root(t), name)] = filepath.Join(root(t), "internal", "e2e", file)
		return nil
	})
	if err != nil || len(overlay.Replace) == 0 {
		t.Fatalf("files of the framework: %v", err)
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "overlay.json"), text)
	tool := filepath.Join(dir, "opcast")
	run(t, command(t, root(t), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", tool, "./cmd/opcast"))
	return tool
}

// anotherProject lays out a project with an adaptor for the framework.
func anotherProject(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/another.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	return dir
}

// judge expects passed checks in every group that is about adaptors, and none that failed.
func judge(t *testing.T, file string) {
	t.Helper()
	r, err := report.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]int{}
	for _, result := range r.Results {
		switch {
		case result.Status.Bad():
			t.Errorf("%s, %s, %s: %s", result.Op, result.Adaptor, result.Check, result.Reason)
		case result.Status == report.Pass && result.Adaptor == another:
			passed[result.Group]++
		}
	}
	for _, group := range []string{"Values", "Shapes", "Dtypes", "Zero size", "Strides", "Aliasing", "Errors", "Across adaptors"} {
		if passed[group] == 0 {
			t.Errorf("nothing passed in the group %s: %v", group, passed)
		}
	}
	if version := r.Adaptors[another]; !slices.Contains(pins(t, "array-api-strict"), "array-api-strict=="+version) {
		t.Errorf("the report names version %q", version)
	}
}

// spoilAnother makes the adaptor forget out=.
func spoilAnother(t *testing.T, project string) {
	t.Helper()
	runtime := filepath.Join(project, "adaptors", another, "src", "toy_"+another, "_runtime", "__init__.py")
	edit(t, runtime, "outs = given or _allocate(returned)", "outs = _allocate(returned)")
	// Without its first line it is the project's own file, which gen leaves as it is.
	_, own, _ := strings.Cut(string(read(t, runtime)), "\n")
	write(t, runtime, []byte(own))
}
