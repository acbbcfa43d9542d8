package build

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

// ErrOtherSources means that a library was made from other sources than those of the project.
var ErrOtherSources = errors.New("was made from other sources than those that are here")

// sourcesSection is the part of a library that holds the digest of its sources.
const sourcesSection = ".opcast"

// Verify compares the digest that the project's library carries with that of the sources, headers, generated files and the
// manifest. Nothing is built for that. A library that does not exist is an error, too.
func Verify(project *opdef.Project, embedded fs.FS) error {
	in := inputs{project: project, embedded: embedded}
	var err error
	if in.runtime, err = tree.FindRuntime(project.Dir, embedded); err != nil {
		return err
	}
	want, err := in.sum()
	if err != nil {
		return err
	}
	got, err := elfcheck.Section(project.LibraryPath(), sourcesSection)
	if err != nil {
		return fmt.Errorf("look at the library: %w", err)
	}
	if strings.TrimRight(string(got), "\x00") != want {
		return fmt.Errorf("%s %w", project.LibraryPath(), ErrOtherSources)
	}
	return nil
}
