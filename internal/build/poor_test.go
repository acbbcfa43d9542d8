package build

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/pyenv"
)

func TestBuildNamesWhatIsMissing(t *testing.T) {
	tests := map[string]struct{ file, text, code, want string }{
		"kernel": {"csrc/scale.cc", "int Unrelated() { return 0; }\n", "B001",
			"opdefs/scale.toml:1:1: error: kernel demo_ops::Scale (scale) is declared but no source defines it [B001]"},
		"python": {"csrc/other.cc", "extern \"C\" int PyLong_Check(int);\nint Other() { return PyLong_Check(1); }\n", "B002",
			"libdemo.so uses PyLong_Check"},
		"ordinary": {"csrc/other.cc", "namespace x { int Absent(); }\nint Other() { return x::Absent(); }\n", "B002",
			"libdemo.so uses x::Absent"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t)
			d.write(tt.file, tt.text)
			for range 2 { // a null build must not hide the finding
				_, findings, log, err := d.build()
				if err != nil || len(findings) != 1 {
					t.Fatalf("findings %v, error %v\n%s", findings, err, log)
				}
				if got := findings[0]; got.Code != tt.code || !strings.Contains(got.String(), tt.want) {
					t.Errorf("finding %s, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestBuildOnAPoorMachine(t *testing.T) {
	tests := map[string]struct {
		edit func(*demo)
		want string
	}{
		"compiler": {func(d *demo) { d.Getenv = func(string) string { return "no-such-compiler -v" } }, "no-such-compiler"},
		"tvm-ffi":  {func(d *demo) { delete(d.Env.Packages, "apache-tvm-ffi") }, "pip install apache-tvm-ffi=="},
		"ninja":    {func(d *demo) { d.withoutNinja() }, "pip install ninja=="},
		"borrowed": {func(d *demo) { d.withoutNinja(); d.Env.Packages["ninja"] = "1.13" }, "pip install ninja=="},
		"both": {func(d *demo) { d.withoutNinja(); delete(d.Env.Packages, "apache-tvm-ffi") },
			"lacks apache-tvm-ffi, ninja"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t)
			tt.edit(d)
			_, _, _, err := d.build()
			var missing *pyenv.MissingError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want a MissingError with %q", err, tt.want)
			}
		})
	}
}

// withoutNinja leaves only a compiler on PATH.
func (d *demo) withoutNinja() {
	path, err := exec.LookPath("c++")
	if err != nil {
		d.t.Skip("no C++ compiler")
	}
	dir := d.t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "c++")); err != nil {
		d.t.Fatal(err)
	}
	d.t.Setenv("PATH", dir)
	d.Env.Ninja = ""
}
