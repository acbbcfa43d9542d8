// Package runner runs one call of an op in a native process of its own, without Python: what `opcast run` times, and what
// a debugger or profiler looks at.
//
// The process is backend/runner, a C++ program that reads a case file; this package writes that file, compiles the program
// when it has to, and reads the results back.
package runner

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/safefile"
)

// Role says what a call does with an array.
type Role string

// The roles.
const (
	In      Role = "in"
	InOut   Role = "inout"
	Out     Role = "out"
	Scratch Role = "scratch"
)

// Array is an array argument. Its contents count only where the call reads them.
type Array struct {
	*ndarray.Array
	Name string
	Role Role
}

// Call is a call of an export.
type Call struct {
	// TVMLibrary is libtvm_ffi.so, Library the collection.
	TVMLibrary, Library string
	Op                  string
	// Kernel is the only one that may run; empty leaves it to dispatch.
	Kernel string
	// DeviceType and DeviceID are DLPack's numbers.
	DeviceType, DeviceID int
	// Repeat is the number of timed calls; 0 only runs the op once.
	Repeat int
	// Guarded arrays lie between memory that is watched. Tools that watch memory themselves see more without.
	Guarded bool
	// Hollow arrays have addresses and no contents: the device is one on which nothing runs.
	Hollow bool
	// Environ are variables that the process has in addition to those of this one, "NAME=VALUE".
	Environ []string
	// Advice stands behind the stack of a kernel that fails or hangs, if it says anything: how to see more of it.
	Advice string
	// Arguments are those of the export in order: Array, int64, float64, bool, string, []int64, or nil for an absent one.
	Arguments []any
}

// The files of a case.
const (
	caseFile    = "case.txt"
	inputsFile  = "inputs.bin"
	resultsFile = "results.bin"
)

// Write puts the case into a folder and returns its path.
func (c *Call) Write(dir string) (string, error) {
	var text strings.Builder
	var data bytes.Buffer
	for _, line := range [][2]any{
		{"tvm_ffi", c.TVMLibrary}, {"library", c.Library}, {"op", c.Op}, {"kernel", c.Kernel}, {"repeat", c.Repeat},
		{"guards", map[bool]int{true: 1}[c.Guarded]}, {"hollow", map[bool]int{true: 1}[c.Hollow]},
		{"device", fmt.Sprintf("%d %d", c.DeviceType, c.DeviceID)},
		{"data", filepath.Join(dir, inputsFile)}, {"results", filepath.Join(dir, resultsFile)},
	} {
		fmt.Fprintf(&text, "%s %v\n", line[0], line[1])
	}
	for _, a := range c.Arguments {
		line, err := argumentLine(a)
		if err != nil {
			return "", err
		}
		text.WriteString(line + "\n")
		if array, ok := a.(Array); ok && !c.Hollow && (array.Role == In || array.Role == InOut) {
			data.Write(array.Bytes())
		}
	}
	err := safefile.In(dir, func(root *os.Root) error {
		_, first := safefile.Write(root, caseFile, []byte(text.String()))
		_, second := safefile.Write(root, inputsFile, data.Bytes())
		return errors.Join(first, second, safefile.Remove(root, resultsFile))
	})
	if err != nil {
		return "", fmt.Errorf("write the case: %w", err)
	}
	return filepath.Join(dir, caseFile), nil
}

// argumentLine is an argument as the program reads it.
func argumentLine(a any) (string, error) {
	switch v := a.(type) {
	case nil:
		return "none", nil
	case int64:
		return fmt.Sprint("int ", v), nil
	case bool:
		return map[bool]string{false: "bool 0", true: "bool 1"}[v], nil
	case float64:
		return "float " + strconv.FormatFloat(v, 'g', -1, 64), nil
	case string:
		return "str " + hex.EncodeToString([]byte(v)), nil
	case []int64:
		return strings.TrimSpace("ints " + words(v)), nil
	case Array:
		return strings.TrimSpace(fmt.Sprintf("array %s %s %d %d %s", v.Name, v.Role, v.DType.Code, v.DType.Bits, words(v.Shape))), nil
	}
	return "", fmt.Errorf("no argument can be a %T", a)
}

// Moved is the number of bytes that the call has to read or write at least once.
func (c *Call) Moved() int64 {
	total := int64(0)
	for _, a := range c.Arguments {
		array, isArray := a.(Array)
		if !isArray || array.Role == Scratch {
			continue
		}
		bytes := ndarray.Count(array.Shape) * ndarray.ItemSize(array.DType)
		if array.Role == InOut {
			bytes *= 2 // read, and written
		}
		total += bytes
	}
	return total
}

func words(list []int64) string { return strings.Trim(fmt.Sprint(list), "[]") }

// Results reads what the call wrote: its outputs and overwritten inputs in the order of the arguments.
func (c *Call) Results(dir string) ([]*ndarray.Array, error) {
	data, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	var out []*ndarray.Array
	for _, a := range c.Arguments {
		array, ok := a.(Array)
		if !ok || array.Role != Out && array.Role != InOut {
			continue
		}
		size := ndarray.Count(array.Shape) * ndarray.ItemSize(array.DType)
		if int64(len(data)) < size {
			return nil, fmt.Errorf("read the results: %s is cut short", resultsFile)
		}
		result, err := ndarray.Of(array.DType, array.Shape, data[:size])
		if err != nil {
			return nil, fmt.Errorf("read the results: %w", err)
		}
		out, data = append(out, result), data[size:]
	}
	return out, nil
}
