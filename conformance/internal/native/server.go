// Package native calls a library from Go, in a process of its own that serves the suite over pipes.
package native

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/system/gpudriver"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// Config is the argument of the process that calls the library from Go.
type Config struct {
	// TVM is libtvm_ffi.so, Library the collection.
	TVM     string `json:"tvm"`
	Library string `json:"library"`
	// Dir is that of the project, from which random calls are made, and Reached a file for the number of the present one.
	Dir     string `json:"dir"`
	Reached string `json:"reached"`
	// Device is the one under test.
	Device string `json:"device"`
	// Foreign says that the library was made by hand: it does not tell of kernels.
	Foreign bool `json:"foreign,omitempty"`
}

// arrayWord is what the process calls arrays, and probes are its special calls.
const arrayWord = "DLPack tensor"

var probes = map[string][]calls.Probe{random.GroupCorrupt: calls.ProbesOf(random.CorruptCall)}

// Serve calls the library of a collection from Go for the suite, which runs it as a process of its own: a kernel that
// crashes ends that process. It answers on the streams until the input ends.
func Serve(config string, in io.Reader, out io.Writer) error {
	debug.SetGCPercent(100) // Go's own: with more of $GOGC this process would grow by itself, and the check would blame the library
	var c Config
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	library, err := tvmffi.Open(c.TVM, c.Library)
	if err != nil {
		return err
	}
	server := &server{library: library, foreign: c.Foreign, device: cmp.Or(c.Device, "cpu")}
	if server.device != "cpu" {
		if server.driver, err = gpudriver.Open(cases.KindOf(server.device)); err != nil {
			return err
		}
	}
	server.random = randomServer{caller: inProcess{library, server.driver, server.device}, dir: c.Dir, device: c.Device}
	if c.Reached != "" {
		if server.random.reached, err = SharedPage(c.Reached); err != nil {
			return err
		}
	}
	// One thread makes all calls, so that what libraries keep for each thread is kept once.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	hello := map[string]any{"version": check.Version, "word": arrayWord, "probes": probes}
	return rpc.Serve(in, out, hello, server.answer)
}

// server answers the requests of the suite.
type server struct {
	library *tvmffi.Library
	foreign bool
	// driver is that of the device under test, nil for the host.
	driver *gpudriver.Driver
	device string
	random randomServer
}

func (s *server) answer(m rpc.Message) (any, [][]byte, error) {
	var what struct{ Do string }
	if err := json.Unmarshal(m.Header, &what); err != nil {
		return nil, nil, fmt.Errorf("native caller: %w", err)
	}
	switch what.Do {
	case calls.DoRandom:
		var request randomRequest
		if err := json.Unmarshal(m.Header, &request); err != nil {
			return nil, nil, fmt.Errorf("native caller: %w", err)
		}
		tally, err := s.random.answer(context.Background(), request)
		return tally, nil, err
	case calls.DoUsage:
		usage, err := tvmffi.Usage()
		return usage, nil, err
	case calls.DoThreads:
		var request calls.ConcurrentRequest
		if err := readNumbers(m.Header, &request); err != nil {
			return nil, nil, err
		}
		return s.answerConcurrent(request, m.Blobs)
	}
	w, err := ReadWire(m.Header)
	if err != nil {
		return nil, nil, err
	}
	for i, blob := range m.Blobs {
		m.Blobs[i] = placed(blob)
	}
	n := &Call{library: s.library, foreign: s.foreign, Wire: w, Blobs: m.Blobs, Arrays: map[int]*Array{}, memory: s.driver.Mirror(), device: s.device}
	return n.answer()
}

// ReadWire reads the header of a call.
func ReadWire(text []byte) (*calls.WireCall, error) {
	w := &calls.WireCall{}
	return w, readNumbers(text, w)
}

// readNumbers reads a request with its numbers as they are written: 64 bits do not fit into a float.
func readNumbers(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("native caller: %w", err)
	}
	return nil
}
