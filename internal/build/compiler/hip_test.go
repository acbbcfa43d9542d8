package compiler

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func TestFindHIP(t *testing.T) {
	both, old, none := tooltest.HIPCC(t, "gfx90a gfx942"), tooltest.HIPCC(t, "gfx90a"), tooltest.HIPCC(t, "")
	tests := map[string]struct {
		named, path, asked string
		manifest           []string
		want               string
		wave               int
	}{
		"named":                {named: both, want: "gfx90a gfx942", wave: 64},
		"with options":         {named: both + " --rocm-path=/usr", want: "gfx90a gfx942", wave: 64},
		"on path":              {path: old, want: "gfx90a", wave: 64},
		"knows none":           {named: none, want: "compiles for none of gfx90a, gfx942, gfx950"},
		"gone":                 {named: "/no/hipcc", want: "$HIPCC names /no/hipcc, which is no program"},
		"none":                 {want: "no HIP compiler: $HIPCC is not set, hipcc is not on PATH"},
		"in the manifest":      {named: old, manifest: []string{"gfx1100", "gfx1201"}, want: "gfx1100 gfx1201", wave: 32},
		"of both kinds":        {named: old, manifest: []string{"gfx1100", "gfx90a"}, want: "not for both gfx1100 and gfx90a"},
		"in the environment":   {named: old, manifest: []string{"gfx1100"}, asked: "gfx942:xnack-", want: "gfx942:xnack-", wave: 64},
		"no architecture":      {named: old, asked: "90", want: "no architecture of AMD's"},
		"half an architecture": {named: old, manifest: []string{"gfx9"}, want: "no architecture of AMD's"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Dir(tt.path)+":/usr/bin.none")
			getenv := func(key string) string { return map[string]string{"HIPCC": tt.named, GFXVariable: tt.asked}[key] }
			got, err := FindHIP(t.Context(), getenv, &manifest.Manifest{ROCm: manifest.ROCm{Arch: tt.manifest}})
			switch {
			case tt.wave == 0 && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			case tt.wave != 0 && (err != nil || strings.Join(got.Archs, " ") != tt.want || Wave(got.Archs) != tt.wave || got.version != "6.1"):
				t.Errorf("got %+v, %v, want %s", got, err, tt.want)
			}
		})
	}
}
