package pyenv

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/framework"
)

// pins are the versions that the project is tested with, beside those of the frameworks; the files in requirements/ name the
// same.
var pins = map[string]string{
	"apache-tvm-ffi":      "0.1.15.post2",
	"ml-dtypes":           "0.6.0",
	"ninja":               "1.13.2",
	"numpy":               "2.4.6",
	"nvidia-cuda-cccl":    "13.3.5.0.6",
	"nvidia-cuda-crt":     "13.2.86",
	"nvidia-cuda-nvcc":    "13.2.86",
	"nvidia-cuda-runtime": "13.2.86",
	"nvidia-nvvm":         "13.2.86",
}

// MissingError says what the machine lacks and which command helps.
type MissingError struct{ Text, Command string }

// Error names the lack and, on a second line, the remedy.
func (e *MissingError) Error() string {
	if e.Command == "" {
		return e.Text
	}
	return e.Text + "\n  run: " + e.Command
}

// pin is the version of a distribution that the project is tested with, or "".
func pin(distribution string) string {
	for _, fw := range framework.All() {
		if v := fw.Pins[distribution]; v != "" {
			return v
		}
	}
	return pins[distribution]
}

// Pinned names the distributions of requirements, each once and in order, in the versions that the project is tested with. A
// requirement whose distribution has none stays as it is.
func Pinned(requirements ...string) (pinned []string) {
	for _, r := range requirements {
		name := r[:len(r)-len(strings.TrimLeft(r, nameLetters))]
		if v := pin(name); v != "" {
			r = name + "==" + v
		}
		pinned = append(pinned, r)
	}
	slices.Sort(pinned)
	return slices.Compact(pinned)
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func installCommand(pip string, distributions ...string) string {
	words := []string{pip, "install"}
	for _, d := range distributions {
		if v := pin(d); v != "" {
			d += "==" + v
		}
		words = append(words, d)
	}
	return strings.Join(words, " ")
}

// Required are the packages without which nothing can be built and tested.
func Required() []string { return []string{"apache-tvm-ffi", "ninja", "numpy", "ml-dtypes"} }
