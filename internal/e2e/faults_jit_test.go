package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Whenever a process is killed, with compilers that live on, cannot write, or finds a poor machine while a package builds
// itself: the next import, of sources that were edited meanwhile, leaves the library in the cache that one of a fresh copy
// does.
func TestJITUnderFaults(t *testing.T) {
	t.Parallel()
	interpreter, _ := environment(t, python(t))
	borrow(t, interpreter, "import sys; sys.modules['torch'] = None\n")
	cxx, path := quickCompiler(t), ninjaOnPath(t, interpreter)
	load := func(dir string) *exec.Cmd {
		project := filepath.Join(dir, "project")
		cmd := command(t, t.TempDir(), interpreter, "-c", "import pair_backend")
		cmd.Env = append(os.Environ(), "CXX="+cxx, "PATH="+path, "OPCAST_CACHE_DIR="+filepath.Join(dir, "cache"), "PYTHONDONTWRITEBYTECODE=1",
			"PYTHONPATH="+filepath.Join(project, "backend/python/src"))
		return cmd
	}
	begin := func(t *testing.T, value string) (dir string) {
		dir = t.TempDir()
		run(t, command(t, "", "cp", "-a", pairProject(t), filepath.Join(dir, "project")))
		factor(t, filepath.Join(dir, "project"), value)
		run(t, command(t, "", tooltest.Path(t), "gen", "-C", filepath.Join(dir, "project")))
		run(t, load(dir))
		return dir
	}
	libraries := func(t *testing.T, dir string) map[string]string {
		all := tree(t, filepath.Join(dir, "cache"))
		maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, "pair/.") })
		return all
	}
	fresh := begin(t, "3.0f")
	for name, tt := range map[string]struct {
		env  []string
		body func(f *faults)
	}{
		"killed":  {[]string{"SLOW_KERNELS=1"}, func(f *faults) { f.kills(20) }},
		"refused": {nil, func(f *faults) { f.refusals([]int{5}, 2) }},
		"poor":    {nil, func(f *faults) { f.poor(1, "no ninja", "the compiler says") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, "1.0f")
			factor(t, filepath.Join(dir, "project"), "2.0f")
			want := libraries(t, fresh)
			tt.body(&faults{
				t: t, dir: dir, stale: duplicate(t, dir), env: tt.env, want: want,
				begins:  "ImportError: pair_backend: libpair.so cannot be built: ",
				command: func() *exec.Cmd { return load(dir) },
				edit:    func() { factor(t, filepath.Join(dir, "project"), "3.0f") },
				result: func() map[string]string {
					got := libraries(t, dir)
					maps.DeleteFunc(got, func(name, _ string) bool { return want[name] == "" })
					return got
				},
			})
		})
	}
}
