package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Whenever `opcast gen` is killed or cannot write, it says so, and the next one leaves what a fresh one does.
func TestGenUnderFaults(t *testing.T) {
	t.Parallel()
	generate := func(dir string) *exec.Cmd { return command(t, "", tooltest.Path(t), "gen", "-C", dir) }
	fresh := pairProject(t)
	stale := duplicate(t, fresh)
	run(t, generate(stale))
	for _, dir := range []string{fresh, stale} {
		op := filepath.Join(dir, "opdefs/scale.toml")
		edit(t, op, "Any values.", "Any values at all.")
		edit(t, op, `"T[N]"`, `"T[M]"`)
		edit(t, op, `"T[N]"`, `"T[M]"`)
		if err := os.Remove(filepath.Join(dir, "opdefs/copy.toml")); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(dir, "opcast.toml"), "license", "retired = [1]\nlicense")
	}
	done := duplicate(t, fresh)
	run(t, generate(done))
	for name, begin := range map[string]string{"first": fresh, "edited": stale} {
		for fault, body := range map[string]func(f *faults){
			"killed":  func(f *faults) { f.kills(20) },
			"refused": func(f *faults) { f.refusals([]int{1, 2, 3, 5, 7, 11}, 4) },
		} {
			t.Run(name+", "+fault, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "project")
				body(&faults{
					t: t, dir: dir, stale: begin, want: tree(t, done),
					command: func() *exec.Cmd { return generate(dir) },
					result:  func() map[string]string { return tree(t, dir) },
				})
			})
		}
	}
}
