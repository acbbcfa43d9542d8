package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

// valuesOfKernels are the checks that tell what a kernel computes.
const valuesOfKernels = `
* backend value
* backend special-values
* backend magnitudes
* backend hard-floats
* backend attrs
* backend optional
* backend split
* backend sizes
* backend zero-size
`

// TestInstructionSets holds kernels to their values with each instruction set that the machine has beside the widest, which
// all other tests use.
func TestInstructionSets(t *testing.T) {
	interpreter := python(t)
	only, products := filepath.Join(t.TempDir(), "only"), filepath.Join(t.TempDir(), "products")
	write(t, only, []byte(valuesOfKernels))
	write(t, products, []byte("* backend value\n* backend hard-floats\n")) // all of avx512 that differs from avx512_bf16
	for name, runs := range map[string]bool{
		"sse2":   cpu.X86.HasAVX2,
		"avx2":   cpu.X86.HasAVX2 && cpu.X86.HasAVX512VL,
		"avx512": cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BF16,
	} {
		t.Run(name, func(t *testing.T) {
			if !runs {
				t.Skipf("%s is the widest that this machine has, or it lacks it", name)
			}
			t.Setenv("OPCAST_ISA", name)
			words := []string{"-C", root(t), "--no-build", "--only", only}
			if name == "avx512" || testing.Short() {
				words[4] = products
			}
			words = append(words, sampleOf(t, "gemm", "gelu", "layernorm2d", "softmax")...) // whose loops the other kernels share
			if wrong, printed := wrongWith(t, interpreter, words); len(wrong) > 0 {
				t.Errorf("failed: %q\n%s", wrong, printed)
			}
		})
	}
}

// A name that the machine does not know ends the call, and says which it knows.
func TestUnknownInstructionSet(t *testing.T) {
	t.Setenv("OPCAST_ISA", "neon")
	const code = "import numpy, opcast_numpy; x = numpy.ones(3, 'f4'); opcast_numpy.eltwise_add(x, x)"
	out, err := command(t, "", python(t), "-c", code).CombinedOutput()
	const want = "OPCAST_ISA: expected an instruction set that this machine and library have (sse2"
	if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "got neon") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A native build has what this machine needs, and says so where something else is asked for.
func TestNativeBuild(t *testing.T) {
	t.Parallel()
	if !cpu.X86.HasAVX2 {
		t.Skip("this machine has nothing beyond the narrowest instruction set")
	}
	dir, python := demoProject(t), borrowed(t)
	unoptimised(t, dir)
	kernel := filepath.Join(dir, "csrc/cpu/scale.cc")
	edit(t, kernel, "const opcast::Launch&)", "const opcast::Launch& launch)")
	edit(t, kernel, "for (int64_t i = 0; i < args.N; ++i)", `opcast::ParallelFor(launch, args.N, 1024, [&](int64_t i, int64_t end) {
    for (; i < end; ++i)`)
	edit(t, kernel, "x[i] * kFactor;", "x[i] * kFactor; });")
	mustOpcast(t, "build", "-C", dir, "--device", "cpu", "--native", "--python", python)
	const code = "import numpy, demo_numpy; print(demo_numpy.scale(numpy.ones(3, 'f4')).sum())"
	if out := run(t, command(t, "", python, "-c", code)); out != "3.0\n" {
		t.Errorf("prints %q", out)
	}
	narrow := command(t, "", python, "-c", code)
	narrow.Env = append(os.Environ(), "DEMO_ISA=sse2")
	out, err := narrow.CombinedOutput()
	if want := "DEMO_ISA: expected an instruction set that this machine and library have (avx"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("with sse2: %v\n%s", err, out)
	}
}

// Dot product instructions for bfloat16 take small numbers for zero, in the factors and in sums. Products keep them.
func TestSmallFactors(t *testing.T) {
	const code = `import ml_dtypes, numpy, opcast_numpy
for rows in 1, 40:
    for small, large in (1e-39, 1e38), (2e-20, 3e-20):
        a = numpy.full((rows, 33), small, ml_dtypes.bfloat16)
        b = numpy.full((40, 33), large, ml_dtypes.bfloat16)
        c, want = opcast_numpy.gemm(a, b, out_dtype="float32"), a.astype("f8") @ b.astype("f8").T
        assert (abs(c / want - 1) < 1e-5).all(), (rows, small, c[0, 0], want[0, 0])`
	if out, err := command(t, "", python(t), "-c", code).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
