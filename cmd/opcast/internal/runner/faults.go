package runner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/stacks"
)

// fault says what the program tells of an access that the machine refused: which array, how far outside, and where in the
// kernel.
func (c *Call) fault(text string) string {
	var said, frames []string
	symbols := stacks.Open(c.Library)
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "fault":
			said = append(said, c.access(rest))
		case "frame":
			offset, path, _ := strings.Cut(rest, " ")
			if at, err := strconv.ParseUint(offset, 10, 64); err == nil && stacks.Same(path, c.Library) {
				frames = append(frames, "\n  "+symbols.Name(at))
			}
		default:
			said = append(said, strings.TrimSpace(line))
		}
	}
	if len(frames) > 0 {
		said = append(said, "it was here, innermost first:"+strings.Join(frames, "")+c.advice())
	}
	return strings.Join(said, "; ")
}

// advice is the last line of a stack.
func (c *Call) advice() string {
	if c.Advice == "" {
		return ""
	}
	return "\n  " + c.Advice
}

// access is "WRITES NAME OFFSET", or a signal, in words.
func (c *Call) access(text string) string {
	var writes int
	var name string
	var offset int64
	if n, _ := fmt.Sscan(text, &writes, &name, &offset); n != 3 {
		return "ended its process: " + text
	}
	verb := map[int]string{0: "read", 1: "wrote"}[writes]
	if verb == "" {
		verb = "touched"
	}
	if a := c.array(name); a != nil && a.Role == In && offset >= 0 && offset < a.bytes() {
		return fmt.Sprintf("wrote to %s, which is an input: byte %d, element %s", name, offset, a.element(offset))
	}
	return fmt.Sprintf("%s out of bounds of %s: %s", verb, name, c.place(name, offset))
}

// array is the array argument of a name; nil if there is none.
func (c *Call) array(name string) *Array {
	for _, argument := range c.Arguments {
		if a, ok := argument.(Array); ok && a.Name == name {
			return &a
		}
	}
	return nil
}

func (a *Array) bytes() int64 { return ndarray.Count(a.Shape) * ndarray.ItemSize(a.DType) }

// element is the index of the element to which a byte belongs.
func (a *Array) element(offset int64) string {
	return list(a.Index(offset / ndarray.ItemSize(a.DType)))
}

// place says where a byte lies that is outside of an array.
func (c *Call) place(name string, offset int64) string {
	a := c.array(name)
	switch {
	case offset < 0:
		return fmt.Sprintf("byte %d lies before its start", offset)
	case a == nil:
		return fmt.Sprintf("byte %d", offset)
	}
	return fmt.Sprintf("byte %d lies behind its end, %s%s has %d bytes", offset, a.DType.Long, list(a.Shape), a.bytes())
}

// list writes sizes as errors do.
func list(sizes []int64) string { return "[" + strings.ReplaceAll(words(sizes), " ", ", ") + "]" }
