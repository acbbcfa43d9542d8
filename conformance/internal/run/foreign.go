package run

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// newForeign is nil where the collection of the project is tested.
func newForeign(o Options) (*check.ForeignCode, error) {
	switch {
	case o.Library != "" && len(o.Callables) > 0:
		return nil, fmt.Errorf("a library and functions: %w: test one after the other", ErrUnknown)
	case o.Library != "":
		path, err := filepath.Abs(o.Library)
		if err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
		return &check.ForeignCode{Library: path}, nil
	case len(o.Callables) == 0:
		return nil, nil
	}
	f := &check.ForeignCode{Functions: map[string]map[string]string{}}
	for _, c := range o.Callables {
		if !isFramework(c.Adaptor) {
			return nil, fmt.Errorf("adaptor %q of %s: %w: functions can be tested through %s only",
				c.Adaptor, c.Target, ErrUnknown, strings.Join(framework.Names(), ", "))
		}
		if !slices.ContainsFunc(o.Project.Ops, func(op *opdef.Op) bool { return op.Name == c.Op }) {
			return nil, fmt.Errorf("op %q of %s: %w: no definition has this name", c.Op, c.Target, ErrUnknown)
		}
		if f.Functions[c.Adaptor] == nil {
			f.Functions[c.Adaptor] = map[string]string{}
		}
		if other := f.Functions[c.Adaptor][c.Op]; other != "" {
			return nil, fmt.Errorf("op %q of %s: %w: it is %s already", c.Op, c.Adaptor, ErrUnknown, other)
		}
		target, err := absolute(c.Target)
		if err != nil {
			return nil, err
		}
		f.Functions[c.Adaptor][c.Op] = target
	}
	return f, nil
}

// isFramework reports whether functions can be tested through this caller: only workers of frameworks call Python functions.
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

// reasonToSkip says why a check has nothing to judge; nil if it has.
func reasonToSkip(f *check.ForeignCode, c *check.Check) error {
	switch {
	case f == nil:
		return nil
	case f.Callables() && c.Foreign.Functions != "":
		return check.Unsupported("%s", c.Foreign.Functions)
	case !f.Callables() && c.Foreign.Library != "":
		return check.Unsupported("%s", c.Foreign.Library)
	case !c.Foreign.Judged:
		return check.Unsupported("nobody said that the check can judge what opcast did not generate")
	}
	return nil
}

// callerNames are the names of everything that can call, in order.
func callerNames(f *check.ForeignCode, p *opdef.Project) []string {
	switch {
	case f.Callables():
		return slices.Sorted(maps.Keys(f.Functions))
	case f != nil:
		return []string{calls.BackendName, calls.NativeName}
	}
	names := append(slices.Clone(p.Manifest.Adaptors), calls.BackendName, calls.NativeName, calls.OpCallName)
	slices.Sort(names)
	return names
}

// paths are the folders in which modules of functions are looked for: where the user is, then the project.
func paths(p *opdef.Project) []string {
	here, err := filepath.Abs(".")
	if err != nil {
		return []string{p.Dir}
	}
	return []string{here, p.Dir}
}
