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
	borrow(t, fresh, "")
	// A copy, so that the build leaves nothing in the repository.
	copies := t.TempDir()
	var packages []string
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
	install(append([]string{"--no-deps"}, packages...)...)
	const check = `import sys
for name in sys.argv[1:]:
    module = __import__("opcast_" + name)
    assert module.__file__.startswith(sys.prefix), module.__file__
    assert module.ops`
	run(t, command(t, t.TempDir(), append([]string{fresh, "-P", "-c", check}, framework.Names()...)...))
	if got, want := smoke(t, fresh), smokeOf(t, main); got != want {
		t.Errorf("installed packages print\n%swhere the repository's print\n%s", got, want)
	}
}
