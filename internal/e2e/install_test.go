package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/framework"
)

// The packages can be installed into an environment that has never seen the repository, and work there.
func TestInstalledPackages(t *testing.T) {
	t.Parallel()
	main := python(t)
	fresh, install := environment(t, main)
	packages := []string{"--no-deps"} // a short run has those of the main environment
	if testing.Short() {
		borrow(t, fresh, "")
	} else {
		packages = nil
		install("--require-hashes", "-r", "requirements/test.txt")
	}
	// A copy, so that the build leaves nothing in the repository.
	copies := t.TempDir()
	folders := []string{"backend/python"}
	for _, name := range framework.Names() {
		folders = append(folders, "adaptors/"+name)
	}
	for _, p := range folders {
		target := filepath.Join(copies, strings.ReplaceAll(p, "/", "-"))
		if err := os.CopyFS(target, os.DirFS(filepath.Join(root(t), p))); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, target)
	}
	install(packages...)
	for _, name := range framework.Names() {
		check := "import opcast_" + name + " as m\nimport sys\nassert m.__file__.startswith(sys.prefix), m.__file__\nassert m.ops\n"
		run(t, command(t, t.TempDir(), fresh, "-P", "-c", check))
	}
	if got, want := smoke(t, fresh), smokeOf(t, main); got != want {
		t.Errorf("installed packages print\n%swhere the repository's print\n%s", got, want)
	}
}
