package gpudriver_test

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/system/gpudriver"
)

// Without a driver, arrays lie where their buffers are.
func TestWithoutDriver(t *testing.T) {
	if _, err := gpudriver.Open("tpu"); err == nil || !strings.Contains(err.Error(), `nobody makes devices of the kind "tpu"`) {
		t.Errorf("got %v", err)
	}
	var none *gpudriver.Driver
	buffer := []byte{1}
	place, err := none.Mirror().Place(buffer)
	if err != nil || place == nil || *(*byte)(place) != 1 {
		t.Errorf("the buffer is at %v, %v", place, err)
	}
	if err := none.Mirror().Close(); err != nil {
		t.Error(err)
	}
}
