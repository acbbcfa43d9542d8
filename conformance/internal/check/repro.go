package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/internal/language/ndarray"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Element is the one of a result that a failure is about.
type Element struct {
	// Slot is its place among those of the op, Output among the results of the call.
	Slot   int     `json:"-"`
	Output int     `json:"output"`
	Name   string  `json:"name"`
	Index  []int64 `json:"index"`
	Want   string  `json:"want"`
}

// Reproduced writes a script that repeats a failing call, or the transformation that was sent last, and returns the line
// that points there. Where no call failed, or nothing can be written, it gives "".
func (t *T) Reproduced(call *calls.Call, at *Element, name, text string) string {
	if t.Exploring || t.interrupted() || t.Env.ReproducerDir == "" || call == nil && t.LastTransformation == nil {
		return ""
	}
	base := CaseName(t.Op.Name, t.Caller.Name(), name)
	base = freeName(filepath.Join(t.Env.ReproducerDir, base[:min(len(base), 120)]))
	files, err := t.reproducer(call, at, text)
	if err != nil {
		return ""
	}
	for suffix, data := range files {
		if err := os.WriteFile(base+suffix, data, 0o644); err != nil {
			return ""
		}
	}
	if r := t.CurrentRow(); r.Reproducer == "" {
		r.Reproducer = filepath.ToSlash(Relative(filepath.Dir(t.Env.ReproducerDir), base+".py"))
	}
	return "\n  repeat with: " + t.Env.python() + " " + Relative(t.Env.Project.Dir, base+".py")
}

// interrupted reports whether the run is being stopped: the calls that fail because of that are no failures.
func (t *T) interrupted() bool { return t.Ctx != nil && errors.Is(t.Ctx.Err(), context.Canceled) }

// CaseName is the name of a script, but for its suffix.
func CaseName(op, caller, name string) string {
	return strings.Trim(notName.ReplaceAllString(op+"-"+caller+"-"+name, "-"), "-")
}

// freeName is the base of a script that is not there yet: two checks may fail with calls of one name. It claims the
// name, since other jobs look for one, too.
func freeName(base string) string {
	name := base
	for i := 2; ; i++ {
		f, err := os.OpenFile(name+".py", os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			if err == nil {
				_ = f.Close() // nothing was written
			}
			return name // where it cannot be made, writing it says so
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
}

// reproducer makes the files of a script by their suffixes: a user's call where one could write it, else the very request.
func (t *T) reproducer(call *calls.Call, at *Element, text string) (map[string][]byte, error) {
	if call == nil {
		request, blobs := calls.TransformRequest(t.LastTransformation)
		return t.Env.recorded(t.Caller.Name(), request, blobs, nil, text)
	}
	call = call.Clone()
	if call.Kernel == "" {
		call.Kernel = t.ForcedKernel()
	}
	if at != nil {
		list := calls.ReturnedSlots(call, t.Caller)
		at.Output = slices.IndexFunc(list, func(s cases.Slot) bool { return s.Arg == cases.Slots(t.Op)[at.Slot].Arg })
	}
	d := calls.AbilitiesOf(t.Caller).Script
	plain := call.Probe == "" && call.Mode == "eager" && call.Extra == nil && call.Style != calls.InOrder && len(call.Inputs) <= len(call.Op.Inputs)
	if d == nil || !plain || t.Env.Replay.Always {
		request, blobs := calls.Pack(t.Caller.Name(), call)
		return t.Env.recorded(t.Caller.Name(), request, blobs, at, text)
	}
	arguments := argumentsOf(call)
	var data bytes.Buffer
	if err := writeMemory(&data, arguments); err != nil {
		return nil, err
	}
	return map[string][]byte{".safetensors": data.Bytes(), ".py": []byte(t.script(d, call, at, text))}, nil
}

// Relative is a path as seen from a folder; the path itself where that is impossible.
func Relative(dir, path string) string {
	if short, err := filepath.Rel(dir, path); err == nil {
		return short
	}
	return path
}

// argument is an argument of a call under the name that the script gives it.
type argument struct {
	name  string
	value any
}

func argumentsOf(call *calls.Call) []argument {
	var out []argument
	for i, v := range call.Inputs {
		out = append(out, argument{call.Op.Inputs[i].Name, v})
	}
	for i, o := range call.Out {
		if o != nil {
			out = append(out, argument{call.Op.Outputs[i].Name, o})
		}
	}
	return out
}

// writeMemory stores the whole buffer of every array, so that strides and offsets survive.
func writeMemory(data *bytes.Buffer, arguments []argument) error {
	var arrays []ndarray.Named
	for _, a := range arguments {
		if x, ok := a.value.(*calls.Tensor); ok {
			whole, err := ndarray.Of(x.DType, []int64{int64(len(x.Data)) / ndarray.ItemSize(x.DType)}, x.Data)
			if err != nil {
				return err
			}
			arrays = append(arrays, ndarray.Named{Name: a.name, Array: whole})
		}
	}
	return ndarray.WriteSafetensors(data, arrays)
}
