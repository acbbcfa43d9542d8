package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/worker"
)

// ReplayInfo has what scripts need that send a request of the suite again.
type ReplayInfo struct {
	// Python is the interpreter, as messages name it.
	Python string
	// Under are words before it.
	Under []string
	// Config is the configuration of a caller's worker, by the caller's name.
	Config func(name string) worker.Config
	// Always says that no adaptor can be imported in its place, as where a callable stands for it.
	Always bool
}

// python is the interpreter in messages, relative to the project where it lies there.
func (e *Environment) python() string {
	program := cmp.Or(e.Replay.Python, "python")
	if short := Relative(e.Project.Dir, e.Replay.Python); e.Replay.Python != "" && !strings.HasPrefix(short, "..") {
		program = short
	}
	if len(e.Replay.Under) == 0 {
		return program
	}
	return shellquote.Join(e.Replay.Under...) + " " + program
}

// folders are the source folders of the project's packages as Python strings, relative to the scripts.
func (e *Environment) folders() string {
	var out []string
	if e.Replay.Config != nil {
		for _, path := range e.Replay.Config(calls.BackendName).Paths {
			out = append(out, strconv.Quote(filepath.ToSlash(Relative(e.ReproducerDir, path)))+",")
		}
	}
	return strings.Join(out, " ")
}

// replayScript sends a request again. Its hole: what failed.
const replayScript = `# Repeats one request of the conformance suite, which lies beside this file.
# %s
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "worker"))
from opcast_worker import replay

replay.run(__file__)
`

// WorkerFolder is the name of the folder with the worker's files.
const WorkerFolder = "worker"

// workerBeside puts the worker's files beside the scripts, complete or not at all: other jobs may do the same.
func (e *Environment) workerBeside() error {
	dir := filepath.Join(e.ReproducerDir, WorkerFolder)
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	temp, err := os.MkdirTemp(e.ReproducerDir, WorkerFolder+"-")
	if err != nil {
		return fmt.Errorf("worker files: %w", err)
	}
	if err := worker.WriteFiles(temp); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return fmt.Errorf("worker files: %w", err)
		}
		return os.RemoveAll(temp)
	}
	return nil
}

// recorded is a request with its worker's configuration and blobs, and a script that sends it. What the caller in Go did
// the bare backend repeats, in Python.
func (e *Environment) recorded(name string, request any, blobs [][]byte, at *Element, text string) (map[string][]byte, error) {
	if e.Replay.Config == nil {
		return nil, errors.New("no worker")
	}
	if name == calls.NativeName {
		name = calls.BackendName
	}
	var data []byte
	sizes := []int{}
	for _, b := range blobs {
		data = append(data, b...)
		sizes = append(sizes, len(b))
	}
	header, err := json.MarshalIndent(map[string]any{
		"config": e.Replay.Config(name), "request": request, "blobs": sizes, "element": at,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("record request: %w", err)
	}
	if err := e.workerBeside(); err != nil {
		return nil, err
	}
	return map[string][]byte{".json": header, ".bin": data, ".py": fmt.Appendf(nil, replayScript, commentOf(text))}, nil
}
