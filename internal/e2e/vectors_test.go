package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What disassembled objects tell: a function's name, where one begins, and instructions that compute with one floating-point
// number ("ss", "sd") or with a vector of them ("ps", "pd").
var (
	functionBegins = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	arithmetic     = regexp.MustCompile(`\tv(?:f?n?m(?:add|sub)[0-9]+|mul|div|sqrt|add|sub)([sp][sd])\b`)
)

// fewInstructions are too few to tell: they may add up what a vector holds, or make one number for a whole row.
const fewInstructions = 40

// mostAlone is how many times as many instructions for single numbers as for vectors a body may have, of each precision. The ends
// of rows need some. Numbers of which a row has one, such as its weight or a limit for draws, are double.
var mostAlone = map[string]int{"s": 2, "d": 8}

// A loop with one choice that the compiler makes a jump of computes number by number, ten times as slowly, and nothing else
// tells. So the bodies for AVX2 and AVX-512 of kernels must not have many more instructions for single numbers than for vectors.
func TestBodiesOfKernelsComputeWithVectors(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("objdump is not on PATH, which comes with binutils")
	}
	objects, err := filepath.Glob(filepath.Join(root(t), "build/release/obj/csrc/cpu/*/*.o"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("no objects of kernels: %v", err)
	}
	for _, isa := range []string{"Avx2", "Avx512"} {
		judged := 0
		for _, object := range objects {
			for name, count := range arithmeticOf(t, object, "::"+isa+"(") {
				for precision, most := range mostAlone {
					alone, vectors := count["s"+precision], count["p"+precision]
					if alone+vectors < fewInstructions {
						continue
					}
					if judged++; alone > most*vectors {
						t.Errorf("%s: %d instructions for vectors and %d for single numbers in %s", filepath.Base(object), vectors, alone, name)
					}
				}
			}
		}
		if judged == 0 {
			t.Skipf("no kernel has a body for %s here", isa)
		}
		t.Logf("%s: %d bodies", isa, judged)
	}
}

// arithmeticOf counts the arithmetic of the functions of an object whose names contain a text.
func arithmeticOf(t *testing.T, object, text string) map[string]map[string]int {
	t.Helper()
	counts, name := map[string]map[string]int{}, ""
	for line := range strings.Lines(run(t, command(t, "", "objdump", "-d", "-C", "--no-show-raw-insn", object))) {
		if begins := functionBegins.FindStringSubmatch(strings.TrimSpace(line)); begins != nil {
			name = begins[1]
		} else if found := arithmetic.FindStringSubmatch(line); found != nil && strings.Contains(name, text) {
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			counts[name][found[1]]++
		}
	}
	return counts
}
