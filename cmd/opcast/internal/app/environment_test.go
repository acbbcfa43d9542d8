package app

import (
	"slices"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
)

// A library is built for the device on which it is called: where the manifest names both vendors' GPUs, CUDA's come first.
func TestDevicesFor(t *testing.T) {
	p := &opdef.Project{Manifest: manifest.Manifest{Devices: []string{"cpu", "cuda", "rocm"}}}
	for device, want := range map[string][]string{
		"cpu": nil, "cuda": nil, "rocm": {"cpu", "rocm"}, build.Emulated: {build.Emulated}, build.EmulatedROCm: {build.EmulatedROCm},
	} {
		if got := DevicesFor(p, device); !slices.Equal(got, want) {
			t.Errorf("for %s: %q, want %q", device, got, want)
		}
	}
}
