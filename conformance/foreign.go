package conformance

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
)

// foreign says that what is under test was not generated: a library made by hand, or functions in Python. Checks judge
// its results and its behaviour; what opcast would have generated, such as words of errors, is not there to be judged.
type foreign struct {
	// library is its path; empty where functions are tested.
	library string
	// functions are targets by adaptor and op.
	functions map[string]map[string]string
}

// newForeign is nil where the collection of the project is tested.
func newForeign(o Options) (*foreign, error) {
	switch {
	case o.Library != "" && len(o.Callables) > 0:
		return nil, fmt.Errorf("a library and functions: %w: test one after the other", ErrUnknown)
	case o.Library != "":
		path, err := filepath.Abs(o.Library)
		if err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
		return &foreign{library: path}, nil
	case len(o.Callables) == 0:
		return nil, nil
	}
	f := &foreign{functions: map[string]map[string]string{}}
	for _, c := range o.Callables {
		if !isFramework(c.Adaptor) {
			return nil, fmt.Errorf("adaptor %q of %s: %w: functions are called through %s",
				c.Adaptor, c.Target, ErrUnknown, strings.Join(framework.Names(), ", "))
		}
		if !slices.ContainsFunc(o.Project.Ops, func(op *opdef.Op) bool { return op.Name == c.Op }) {
			return nil, fmt.Errorf("op %q of %s: %w: no definition has this name", c.Op, c.Target, ErrUnknown)
		}
		if f.functions[c.Adaptor] == nil {
			f.functions[c.Adaptor] = map[string]string{}
		}
		if other := f.functions[c.Adaptor][c.Op]; other != "" {
			return nil, fmt.Errorf("op %q of %s: %w: it is %s already", c.Op, c.Adaptor, ErrUnknown, other)
		}
		target, err := absolute(c.Target)
		if err != nil {
			return nil, err
		}
		f.functions[c.Adaptor][c.Op] = target
	}
	return f, nil
}

// isFramework reports whether there is a worker that calls Python functions with arrays of a framework.
func isFramework(name string) bool {
	f, _ := framework.ByName(name)
	files, ok := f.Worker()
	if !ok {
		return false
	}
	_, err := fs.Stat(files, name+"_caller.py")
	return err == nil
}

// absolute makes the path of a target absolute: workers run in a folder of their own.
func absolute(target string) (string, error) {
	place, name, ok := strings.Cut(target, ":")
	if !ok || place == "" || name == "" {
		return "", fmt.Errorf("function %q: %w: expected \"package.module:function\" or \"path/file.py:function\"", target, ErrUnknown)
	}
	if !strings.HasSuffix(place, ".py") {
		return target, nil
	}
	path, err := filepath.Abs(place)
	if err != nil {
		return "", fmt.Errorf("function %q: %w", target, err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("function %q: %w: %w", target, ErrUnknown, err)
	}
	return path + ":" + name, nil
}

// callables reports whether functions are tested, so that there is no library.
func (f *foreign) callables() bool { return f != nil && f.functions != nil }

// offers reports whether there is something to test of an op through a caller.
func (f *foreign) offers(op *opdef.Op, caller string) bool {
	if !f.callables() {
		return true
	}
	if caller == definitionName {
		for _, ops := range f.functions {
			if ops[op.Name] != "" {
				return true
			}
		}
		return false
	}
	return f.functions[caller][op.Name] != ""
}

// excluded says why a check has nothing to judge; nil if it has.
func (f *foreign) excluded(check *Check) error {
	switch {
	case f == nil:
		return nil
	case f.callables() && check.Foreign.Functions != "":
		return unsupported("%s", check.Foreign.Functions)
	case !f.callables() && check.Foreign.Library != "":
		return unsupported("%s", check.Foreign.Library)
	}
	return nil
}

// forgives reports whether a wrong call is one that others may take: where Python and tvm-ffi take a bool for a number and a
// number for a bool, nobody is misled.
func (f *foreign) forgives(wrong fault) bool { return f != nil && wrong.lenient }

// agrees expects a call whose arrays lie elsewhere to give the bits of the plain one. Of code that promises no such thing, it
// expects what the reference allows.
func (t *T) agrees(call *Call, c *Case, name string, got, want *Result) error {
	if t.env.foreign == nil {
		t.identical(call, name, got, want)
		return nil
	}
	named := *c // the failure says what was unusual
	named.Name = name
	return t.matches(call, &named, got)
}

// adaptors are the names of everything that can call, in order.
func (f *foreign) adaptors(p *opdef.Project) []string {
	switch {
	case f.callables():
		return slices.Sorted(maps.Keys(f.functions))
	case f != nil:
		return []string{backendName, nativeName}
	}
	names := append(slices.Clone(p.Manifest.Adaptors), backendName, nativeName, opCallName)
	slices.Sort(names)
	return names
}

// paths are the folders in which modules of functions are looked for: where the user is, then the project.
func (f *foreign) paths(p *opdef.Project) []string {
	here, err := filepath.Abs(".")
	if err != nil {
		return []string{p.Dir}
	}
	return []string{here, p.Dir}
}
