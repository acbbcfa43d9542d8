package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// quickCompiler is a program that compiles what all projects of the tests under faults share once.
func quickCompiler(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("testdata/cxx.sh")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(sharedFolder(t, "compiler", func(dir string) {
		words := strings.NewReplacer("REAL", strings.Join(cxxWords(t), " "), "KEPT", dir)
		write(t, filepath.Join(dir, "cxx"), []byte(words.Replace(string(script))))
		if err := os.Chmod(filepath.Join(dir, "cxx"), 0o755); err != nil {
			t.Fatal(err)
		}
	}), "cxx")
}

// uncached has a build compile what other builds have compiled.
const uncached = "OPCAST_CACHE_DIR=/dev/null"

// factor changes what the kernel of a project computes.
func factor(t *testing.T, dir, value string) {
	t.Helper()
	write(t, filepath.Join(dir, "csrc/factor.h"), []byte("#pragma once\nconstexpr float kFactor = "+value+";\n"))
}

// Whenever `opcast build` is killed, with compilers that live on, cannot write, or finds a poor machine: the next build, of
// sources that were edited meanwhile, leaves what one of a fresh copy does.
func TestBuildUnderFaults(t *testing.T) {
	t.Parallel()
	python(t)
	cxx := quickCompiler(t)
	for name, tt := range map[string]struct {
		env    []string
		cached bool
		body   func(f *faults)
	}{
		"killed":  {[]string{"SLOW_KERNELS=1"}, false, func(f *faults) { f.kills(20) }},
		"refused": {nil, false, func(f *faults) { f.refusals([]int{1, 3}, 3) }},
		"poor": {nil, false, func(f *faults) {
			f.poor(3, " lacks ninja", "build failed")
			f.broken("no place for a cache", 0, "", "HOME=", "OPCAST_CACHE_DIR=")
		}},
		"cached": {nil, true, func(f *faults) { f.kills(10) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			interpreter := borrowed(t)
			env := append(os.Environ(), "CXX="+cxx, "PATH="+ninjaOnPath(t, interpreter), uncached)
			compile := func(dir string) *exec.Cmd {
				cmd := command(t, "", tooltest.Path(t), "build", "-C", dir, "--python", interpreter)
				if cmd.Env = env; tt.cached {
					cmd.Env = append(slices.Clone(env), "OPCAST_CACHE_DIR="+filepath.Join(dir, "cache"))
				}
				return cmd
			}
			result := func(dir string) map[string]string {
				files := tree(t, dir)
				maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "cache/") })
				return files
			}
			dir, fresh := pairProject(t), pairProject(t)
			run(t, compile(dir))
			value := map[bool]string{false: "3.0f", true: "2.0f"}[tt.cached] // what a killed build has kept is looked up
			factor(t, dir, "2.0f")
			factor(t, fresh, value)
			run(t, compile(fresh))
			tt.body(&faults{
				t: t, dir: dir, stale: duplicate(t, dir), env: tt.env, want: result(fresh),
				command: func() *exec.Cmd { return compile(dir) },
				edit:    func() { factor(t, dir, value) },
				result:  func() map[string]string { return result(dir) },
			})
		})
	}
}
