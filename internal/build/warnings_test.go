package build

import (
	"strings"
	"testing"
)

// Warnings about the author's sources are shown, and are errors where the manifest says so. Those about generated files
// always are.
func TestWarnings(t *testing.T) {
	const unused = "\nnamespace { int Unused() { return 1; } }\n"
	kernel, generated := "csrc/scale.cc", "backend/gen/scale.gen.cc"
	for _, tt := range []struct {
		name, file   string
		werror, fail bool
	}{
		{"shown", kernel, false, false},
		{"error", kernel, true, true},
		{"generated", generated, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDemo(t)
			d.Project.Manifest.Build.Werror = tt.werror
			d.write(tt.file, demoFiles[tt.file]+unused)
			_, _, log, err := d.build()
			if (err != nil) != tt.fail {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(log, "Unused") {
				t.Errorf("the compiler is not heard: %q", log)
			}
		})
	}
}
