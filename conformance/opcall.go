package conformance

import (
	"slices"
	"strings"
)

// Groups of probes of the caller that names an op by its number.
const (
	// groupRefusals: calls that only such a caller can get wrong. Each raises an error of ours.
	groupRefusals = "refusals"
	// groupMixed: arguments from other frameworks. They give the result of the plain call.
	groupMixed = "mixed"
)

// checkOpCall makes the calls that are wrong only by number and name.
func checkOpCall(t *T) error {
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	for _, probe := range t.Caller.Probes(groupRefusals) {
		name := probe.Name
		call, err := t.call(t.Caller, c)
		if err != nil {
			return err
		}
		call.Probe = groupRefusals + "." + name
		result, err := t.Call(call, name)
		if err == nil && !t.refusedByNumber(result.Error) {
			t.Fail(call, name, "want an error of ours, got %v", result.Error)
		}
		if err := proceed(err); err != nil {
			return err
		}
		if err := proceed(t.valueOf(c)); err != nil {
			return err
		}
	}
	return nil
}

// refusedByNumber reports whether an error is in the words of the op, or of the function that did not find it.
func (t *T) refusedByNumber(e *CallError) bool {
	if e == nil || !slices.Contains(append([]string{"KeyError"}, refusals...), e.Class) {
		return false
	}
	text := strings.Trim(e.Text, `"'`) // Python quotes the text of a KeyError
	return strings.HasPrefix(text, t.Op.Name+": ") || strings.HasPrefix(text, opCallName+": ") || strings.Contains(text, "no op ")
}

// checkMixed passes every other input as an array of another framework.
func checkMixed(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		backend := t.env.caller(backendName)
		if backend == nil {
			return skip("the backend cannot be called")
		}
		want, err := t.baseline(backend, c)
		if err != nil {
			return err
		}
		return forEach(t.Caller.Probes(groupMixed), func(probe Probe) error {
			call, err := t.call(t.Caller, c)
			if err != nil {
				return err
			}
			call.Probe = groupMixed + "." + probe.Name
			return t.sameBitsOf(call, probe.Name+", "+c.Name, want)
		})
	})
}
