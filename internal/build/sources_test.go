package build

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func TestFindSourcesErrors(t *testing.T) {
	dir := t.TempDir()
	tooltest.Write(t, filepath.Join(dir, "cuda", "k.cu"), "")
	in := inputs{project: &opdef.Project{Dir: dir, Manifest: manifest.Manifest{Devices: []string{"cpu"}}}}
	for pattern, want := range map[string]string{"cuda/*": `do not name "cuda"`} {
		in.project.Manifest.Sources = []string{pattern}
		if err := in.findUnits(demoRuntime, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", pattern, err, want)
		}
	}
}
