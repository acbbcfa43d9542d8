// Package wheel writes Python wheels: zip archives with the files of a distribution and what installers read about it.
//
// The bytes follow from the contents alone. No time, owner, folder or order of a directory enters, so that two builds of the
// same sources give the same file.
package wheel

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/language/framework"
)

// File is an entry of a wheel. Its name has slashes.
type File struct {
	Name    string
	Content []byte
	// Executable marks a program.
	Executable bool
}

// Extra is a set of requirements that a user asks for by a name in brackets.
type Extra struct {
	Name     string
	Requires []string
}

// Distribution is what a wheel holds: its name and other facts about it, as pyproject.toml states them, and its files.
type Distribution struct {
	Name, Version, Summary, License, RequiresPython string
	Requires                                        []string
	Extras                                          []Extra
	// Readme is the description in Markdown; where it is empty, the summary serves.
	Readme string
	// Licenses are the texts of licenses, by the names of their files.
	Licenses []File
	// Typed says that type checkers may use the package.
	Typed bool
	Files []File
	// Scripts are programs that become commands.
	Scripts []File
	// Platform is the end of the tag, "any" for a wheel that runs everywhere.
	Platform string
}

// separators are what all spellings of a name differ in.
var separators = regexp.MustCompile(`[-_.]+`)

// escaped is a name as the names of files have it.
func escaped(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "_"))
}

// zeros are those before other digits, which versions cannot have in their normal form.
var zeros = regexp.MustCompile(`(^|[^0-9])0+([0-9])`)

// normal is a version in its normal form, as installers compare it with the name of a file.
func normal(version string) string { return zeros.ReplaceAllString(version, "$1$2") }

// stem is the beginning of the names of the archive and of its folders.
func (d *Distribution) stem() string { return escaped(d.Name) + "-" + normal(d.Version) }

// tag says where the wheel can be installed. No file depends on the version of Python or on its ABI.
func (d *Distribution) tag() string { return "py3-none-" + d.Platform }

// FileName is the name of the archive.
func (d *Distribution) FileName() string { return d.stem() + "-" + d.tag() + ".whl" }

// Replaces says whether a file of this name holds the same version of the same distribution, for whatever platform.
func (d *Distribution) Replaces(name string) bool {
	return strings.HasPrefix(name, d.stem()+"-") && path.Ext(name) == ".whl"
}

// Of says whether a file of this name is a wheel or a source distribution of a collection, whatever its version and its platform.
func Of(collection, name string) bool {
	distribution, _, ok := strings.Cut(name, "-")
	if !ok || path.Ext(name) != ".whl" && !strings.HasSuffix(name, ".tar.gz") {
		return false
	}
	part, ok := strings.CutPrefix(distribution, escaped(collection))
	if !ok || part == "" {
		return ok
	}
	name, ok = strings.CutPrefix(part, "_")
	_, known := framework.ByName(name)
	return ok && (known || name == "backend" || strings.HasPrefix(name, "backend_cu"))
}

// Archive returns the wheel's bytes. Files come in the order of their names, then what describes them, as installers like it.
func (d *Distribution) Archive() ([]byte, error) {
	info := d.stem() + ".dist-info/"
	files := slices.Clone(d.Files)
	for _, s := range d.Scripts {
		files = append(files, File{Name: d.stem() + ".data/scripts/" + s.Name, Content: s.Content, Executable: true})
	}
	byName := func(a, b File) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(files, byName)
	about := []File{
		{Name: info + "METADATA", Content: d.metadata()},
		{Name: info + "WHEEL", Content: d.wheel()},
	}
	for _, license := range d.Licenses {
		about = append(about, File{Name: info + "licenses/" + license.Name, Content: license.Content})
	}
	slices.SortFunc(about, byName)
	files = append(files, about...)
	record, err := record(files, info+"RECORD")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", d.FileName(), err)
	}
	archive, err := archive(append(files, File{Name: info + "RECORD", Content: record}))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", d.FileName(), err)
	}
	return archive, nil
}

// record lists the files with their digests and sizes. The list itself has neither.
func record(files []File, self string) ([]byte, error) {
	var out bytes.Buffer
	lines := csv.NewWriter(&out)
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		digest := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:])
		if err := lines.Write([]string{f.Name, digest, strconv.Itoa(len(f.Content))}); err != nil {
			return nil, err
		}
	}
	if err := lines.Write([]string{self, "", ""}); err != nil {
		return nil, err
	}
	lines.Flush()
	return out.Bytes(), lines.Error()
}

// epoch is the first time that a zip archive can state.
var epoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

func archive(files []File) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i, f := range files {
		if i > 0 && slices.ContainsFunc(files[:i], func(other File) bool { return other.Name == f.Name }) {
			return nil, fmt.Errorf("%s occurs twice", f.Name)
		}
		header := zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: epoch}
		mode := fs.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		header.SetMode(mode)
		entry, err := w.CreateHeader(&header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.Content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
