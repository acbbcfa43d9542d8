package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/safefile"
)

// record says what a file was made from. The file is used again only if all of that, and the file, are the same.
type record struct {
	// Key stands for the command.
	Key string `json:"key"`
	// SHA256 is the digest of what came out.
	SHA256 string `json:"sha256"`
	// Reads maps the names of the files that the compiler read to their digests.
	Reads map[string]string `json:"reads"`
	// Asks are the headers whose existence these files ask for with __has_include.
	Asks []string `json:"asks,omitempty"`
	// Namesakes are the headers of the project that have the name of one of either. One more could take the place of another.
	Namesakes []string `json:"namesakes,omitempty"`
}

// unknown stands for the digest of a file that nobody could read.
const unknown = "unknown"

// records are those of all objects and libraries in a build folder, by their paths.
type records map[string]record

// recordsFile lies in the build folder.
const recordsFile = "records.json"

// readRecords returns no records if they cannot be read: what has no record is made again.
func readRecords(root *os.Root, folder string) records {
	all := records{}
	text, err := root.ReadFile(path.Join(folder, recordsFile))
	if err != nil || json.Unmarshal(text, &all) != nil {
		return records{}
	}
	return all
}

func (r records) write(root *os.Root, folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = safefile.Write(root, path.Join(folder, recordsFile), append(text, '\n'))
	return err
}

// fresh says whether a file is what its command would make now.
func (r records) fresh(file, key string, look *look) (bool, error) {
	made, ok := r[file]
	if !ok || made.Key != key {
		return false, nil
	}
	if digest, err := look.Of(tree.Local(look.place.project, file)); err != nil || digest != made.SHA256 {
		return false, err
	}
	return look.same(made)
}

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
