package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elementBudget is the most instructions per element for the kernels of an op that a pattern finds.
type elementBudget struct {
	op, kernel     string
	elements, most int
}

// instructionsPerElement are the most that kernels for 16 bits may have, with all that they do once: a GPU can only then
// compute as fast as it reads memory. Of the kernel's loops, one goes over tiles or rows and one over vectors, so it runs each
// instruction at most once for so many elements.
var instructionsPerElement = []elementBudget{
	{"eltwise_add", `<.*bfloat16`, 16, 20},
	{"eltwise_relu", `<.*bfloat16`, 16, 20},
	{"gelu", `<.*bfloat16`, 16, 37},
	{"dequantize", `bfloat16`, 16, 41},
	{"layernorm2d", `Form<4, true>.*(bfloat16|half)`, 32, 70},
	{"silu_and_mul", `Form<4, true>.*bfloat16`, 32, 24},
	{"silu_and_mul", `Form<1, true>.*bfloat16`, 8, 33},
	{"silu_and_mul", `Form<0, true>.*bfloat16`, 8, 33},
}

var registerBudget = regexp.MustCompile(`(?m)^// Registers: at most (\d+)\.$`)

// No kernel for CUDA has memory of its own beside registers; each file says how many registers its kernels take, and the
// gates and elementwise kernels have few instructions. Those are compiled here; `make test-all` compiles all.
func TestUsageOfCUDAKernels(t *testing.T) {
	t.Parallel()
	dir, python := root(t), python(t)
	for _, op := range project(t).Ops {
		counted := slices.ContainsFunc(instructionsPerElement, func(b elementBudget) bool { return b.op == op.Name })
		if !counted && testing.Short() {
			continue
		}
		code, stdout, stderr := opcast(t, "run", op.Name, "--ptxas", "-C", dir, "--python", python)
		if code == 3 {
			t.Skip("no CUDA compiler: " + stderr)
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != 0 || len(lines) < 2 {
			t.Errorf("%s: exit code %d\n%s%s", op.Name, code, stdout, stderr)
			continue
		}
		for _, line := range lines[1:] {
			withinBudget(t, dir, op.Name, line)
		}
	}
}

// withinBudget looks at one kernel: arch, registers, local, spilled, shared, instructions, source, name.
func withinBudget(t *testing.T, dir, op, line string) {
	t.Helper()
	fields := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Errorf("%s: %q: %v", op, line, err)
		}
		return n
	}
	if number(2) != 0 || number(3) != 0 {
		t.Errorf("%s: a kernel has local memory: %s", op, line)
	}
	stated := registerBudget.FindSubmatch(read(t, filepath.Join(dir, filepath.FromSlash(fields[6]))))
	if stated == nil {
		t.Errorf("%s does not say how many registers its kernels take", fields[6])
	} else if most, _ := strconv.Atoi(string(stated[1])); number(1) > most {
		t.Errorf("%s: %d registers, and the file says at most %d: %s", op, number(1), most, line)
	}
	for _, b := range instructionsPerElement {
		if b.op == op && regexp.MustCompile(b.kernel).MatchString(line) && number(5) > b.elements*b.most {
			t.Errorf("%s: %d instructions for %d elements, at most %d for each: %s", op, number(5), b.elements, b.most, line)
		}
	}
}
