package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// judgeWheels has other people's programs look at wheels.
func judgeWheels(t *testing.T, files []string) {
	t.Helper()
	bin := filepath.Dir(python(t))
	run(t, command(t, root(t), append([]string{filepath.Join(bin, "twine"), "check", "--strict"}, files...)...))
	// The tool that is a command here may be linked for this machine only.
	plain := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return strings.HasPrefix(filepath.Base(file), "my_kernels-") })
	mustOpcast(t, append([]string{"audit"}, plain...)...)
	for _, file := range files {
		words := []string{filepath.Join(bin, "check-wheel-contents"), file}
		if name, _, _ := strings.Cut(filepath.Base(file), "-"); name == "my_kernels" || name == "demo" {
			words = append(words, "--ignore", "W007,W008") // it is empty: it only requires the others
		}
		run(t, command(t, root(t), words...))
		if strings.Contains(file, "backend") {
			shown := run(t, command(t, root(t), filepath.Join(bin, "auditwheel"), "show", file))
			if !strings.Contains(file, "-manylinux_2_28_x86_64.whl") || strings.Contains(shown, `"linux_x86_64"`) {
				t.Errorf("%s is no wheel for manylinux:\n%s", file, shown)
			}
		}
	}
}

// typed is what a user may write, and mistaken what a type checker must refuse: a string, no argument and an op that is not there.
const (
	typed = `
import jax
import my_kernels_backend
import my_kernels_jax
import my_kernels_numpy
import my_kernels_paddle
import my_kernels_torch
import numpy as np
import paddle
import torch
from numpy.typing import NDArray

class Double(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return my_kernels_torch.twice(x)

def loss(x: jax.Array) -> jax.Array:
    return my_kernels_jax.twice(x).sum()

doubled: NDArray[np.generic] = my_kernels_numpy.twice(np.ones(3, np.float32))
print(doubled, jax.jit(loss)(jax.numpy.ones(3)), Double()(torch.ones(3)))
tripled: paddle.Tensor = 3 * my_kernels_paddle.twice(paddle.ones([3]))
print(tripled, my_kernels_backend.library_path(), my_kernels_backend.get_num_threads())
`
	mistaken = `import my_kernels_torch
my_kernels_torch.twice("text")
my_kernels_torch.twice()
my_kernels_torch.thrice
`
)

// judgeTypes has a type checker look at a user's scripts, which know the installed packages only.
func judgeTypes(t *testing.T, environment string) {
	t.Helper()
	check := func(script string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "user.py"), []byte(script))
		cmd := command(t, dir, filepath.Join(filepath.Dir(python(t)), "pyright"), "--pythonpath", environment, "user.py")
		out, _ := cmd.Output() // it ends with 1 where it finds something
		return string(out)
	}
	if out := check(typed); !strings.HasPrefix(out, "0 errors, 0 warnings") {
		t.Errorf("a type checker says\n%s", out)
	}
	out := check(mistaken)
	for _, want := range []string{`cannot be assigned to parameter "x" of type "Tensor"`, `Argument missing for parameter "x"`, `"thrice" is not a known attribute`} {
		if !strings.Contains(out, want) {
			t.Errorf("a type checker does not say %q:\n%s", want, out)
		}
	}
}
