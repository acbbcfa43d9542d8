package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// A library is built for the device on which it is called: it has kernels for the GPUs of one vendor.
func TestDevicesFor(t *testing.T) {
	p := &opdef.Project{Manifest: manifest.Manifest{Devices: []string{"cpu", "cuda", "rocm"}}}
	for device, want := range map[string][]string{
		"cpu": nil, "cuda": {"cpu", "cuda"}, "rocm": {"cpu", "rocm"}, build.Emulated: {build.Emulated}, build.EmulatedROCm: {build.EmulatedROCm},
	} {
		if got, err := DevicesFor(p, device); err != nil || !slices.Equal(got, want) {
			t.Errorf("for %s: %q, %v, want %q", device, got, err, want)
		}
	}
}

// A device that the manifest does not name is refused: a library without kernels for it would replace the one that is there.
func TestDevicesForOthers(t *testing.T) {
	p := &opdef.Project{Manifest: manifest.Manifest{Devices: []string{"cpu", "cuda"}}}
	for _, device := range []string{"rocm", build.EmulatedROCm} {
		want := "--device " + device + ": the devices of opcast.toml are cpu, cuda"
		if got, err := DevicesFor(p, device); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("for %s: %q, %v, want %q", device, got, err, want)
		}
	}
	if got, err := DevicesFor(p, "cuda"); got != nil || err != nil {
		t.Errorf("for cuda: %q, %v, want all that there is a compiler for", got, err)
	}
}
