package audit

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/system/version"
)

// maxContents is the number of bytes that the files of a wheel may have in all. Hostile archives of some kilobytes claim more.
const maxContents = 16 << 30

// wheel is a wheel that is being judged.
type wheel struct {
	judge
	// file is the path of the wheel, name what its name says.
	file string
	name wheelName
	// sums are the digests of its members, as a RECORD has them, sizes their sizes.
	sums  map[string]string
	sizes map[string]int64
	// infos are its folders of metadata, texts those members of them that are judged, by their names.
	infos map[string]bool
	texts map[string][]byte
	// newest are the highest versions of symbols that its libraries and programs need, by the words before the underscore;
	// libraries is the number of libraries.
	newest    map[string]string
	libraries int
}

// Wheel judges a wheel of some bytes. The last part of the name is the wheel's.
func Wheel(name string, r io.ReaderAt, size int64, rules Rules) (*Report, error) {
	standard, err := rules.standard()
	if err != nil {
		return nil, err
	}
	report := &Report{File: diag.Printable(name), Libraries: []Facts{}}
	w := &wheel{judge: judge{rules: rules, standard: standard, report: report, inside: map[string][]string{}}, file: name,
		sums: map[string]string{}, sizes: map[string]int64{}, infos: map[string]bool{}, texts: map[string][]byte{}, newest: map[string]string{}}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		w.add(name, "W005", "build it again, or copy it again", "it is no wheel: %v", err)
		return report, nil
	}
	var ok bool
	if w.name, ok = parseWheelName(path.Base(filepath.ToSlash(name))); !ok {
		w.add(name, "W001", "name it DISTRIBUTION-VERSION-PYTHON-ABI-PLATFORM.whl", "its name is not that of a wheel")
		return report, nil
	}
	if err := w.members(archive); err != nil {
		return nil, err
	}
	report.Wheel = &WheelFacts{Distribution: w.name.distribution, Version: w.name.version, Tags: w.name.tags(), Files: len(w.sums)}
	if len(w.infos) > 1 {
		w.add(name, "W006", "build it again", "it has %s, and installers take one folder of metadata only",
			strings.Join(listed(slices.Sorted(maps.Keys(w.infos))), " and "))
	}
	w.record()
	w.metadata()
	w.platforms()
	return report, nil
}

// members reads all files of the wheel. An error is the machine's.
func (w *wheel) members(archive *zip.Reader) error {
	for _, f := range archive.File {
		if folder, base := path.Split(installed(f.Name)); strings.Contains(base, ".so") {
			w.inside[base] = append(w.inside[base], path.Clean(folder))
		}
	}
	var total uint64
	names := map[string]bool{}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		clean := path.Clean(f.Name) // "./x" and "x" become one file
		if names[clean] || !filepath.IsLocal(f.Name) || strings.Contains(f.Name, `\`) {
			w.add(w.file, "W005", "build it again", "the name of %s in it occurs twice, or leads out of it", shown(f.Name))
			continue
		}
		names[clean] = true
		if total += f.UncompressedSize64; total > maxContents || f.UncompressedSize64 > maxContents {
			w.add(w.file, "W005", "build it again", "its files claim to have more than %d GiB", maxContents>>30)
			return nil
		}
		if err := w.member(f); err != nil {
			return err
		}
	}
	return nil
}

// installed is where a member lies once it is installed, seen from the folder of packages. What installers put elsewhere keeps its
// name.
func installed(name string) string {
	head, rest, ok := strings.Cut(path.Clean(name), "/")
	if kind, inner, more := strings.Cut(rest, "/"); ok && more && strings.HasSuffix(head, ".data") && (kind == "platlib" || kind == "purelib") {
		return inner
	}
	return path.Clean(name)
}

// member reads one file. Libraries go to the disk, since they may be as large as the memory.
func (w *wheel) member(f *zip.File) error {
	w.sums[f.Name] = "" // it is there, even if it cannot be read
	content, err := f.Open()
	if err != nil {
		w.add(w.file, "W005", "build it again, or copy it again", "%s in it cannot be read: %v", f.Name, err)
		return nil
	}
	defer func() { _ = content.Close() }() // what was wrong is known by then
	if err = w.content(f, content); err == nil {
		return nil
	}
	if local := (*os.PathError)(nil); errors.As(err, &local) {
		return fmt.Errorf("audit %s: %w", w.file, err)
	}
	w.add(w.file, "W005", "build it again, or copy it again", "%s in it cannot be read: %v", shown(f.Name), err)
	return nil
}

// content takes what is in a file, and its digest.
func (w *wheel) content(f *zip.File, content io.Reader) (err error) {
	sum := sha256.New()
	in := bufio.NewReader(io.TeeReader(io.LimitReader(content, int64(f.UncompressedSize64)+1), sum))
	head, _ := in.Peek(4) // shorter files are no libraries
	folder, base := path.Split(path.Clean(f.Name))
	isInfo := strings.HasSuffix(folder, ".dist-info/") && strings.Count(folder, "/") == 1
	if isInfo {
		w.infos[strings.TrimSuffix(folder, "/")] = true
	}
	switch {
	case string(head) == "\x7fELF":
		err = w.takeBinary(f.Name, in)
	case path.Ext(base) == ".so":
		w.add(w.file, "A009", "build it again", "%s in it is no ELF file", shown(f.Name))
		_, err = io.Copy(io.Discard, in)
	case isInfo && mostText[base] > 0 && f.UncompressedSize64 > mostText[base]:
		w.add(w.file, "W005", "build it again", "%s in it has more than %d MiB", shown(f.Name), mostText[base]>>20)
		_, err = io.Copy(io.Discard, in)
	case isInfo && mostText[base] > 0:
		w.texts[path.Clean(f.Name)], err = io.ReadAll(in)
	default:
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return err
	}
	w.sums[f.Name] = "sha256=" + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
	w.sizes[f.Name] = int64(f.UncompressedSize64)
	return nil
}

// mostText is the number of bytes that the files of metadata may have which are judged. The RECORD of PyTorch has 2 MiB.
var mostText = map[string]uint64{"METADATA": 4 << 20, "WHEEL": 1 << 20, "RECORD": 32 << 20}

// takeBinary judges a library or program in the wheel.
func (w *wheel) takeBinary(name string, in io.Reader) error {
	file, err := os.CreateTemp("", "opcast-audit-*.so")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return err
	}
	size, err := io.Copy(file, in)
	if err != nil {
		return err
	}
	take, folder := w.program, path.Dir(installed(name))
	if !isProgram(name) {
		w.libraries++
		take = w.library
	}
	if lib := take(w.file+"/"+name, folder, file, size); lib != nil {
		for word, number := range highest(lib.Versions) {
			if version.Older(w.newest[word], number) {
				w.newest[word] = number
			}
		}
	}
	return nil
}

// isProgram says whether a file of a wheel is a command: installers put it among theirs, or the package has it in a folder for
// them.
func isProgram(name string) bool {
	folder, base := path.Split(path.Clean(name))
	scripts := strings.HasSuffix(folder, ".data/scripts/") && strings.Count(folder, "/") == 2
	return scripts || path.Base(folder) == "bin" && !strings.Contains(base, ".so")
}

// infoFolder is the folder of metadata, empty if there is none or another one.
func (w *wheel) infoFolder() string {
	for folder := range w.infos {
		distribution, version, _ := strings.Cut(strings.TrimSuffix(folder, ".dist-info"), "-")
		if normalized(distribution) == normalized(w.name.distribution) && version == w.name.version {
			return folder
		}
	}
	return ""
}

// headers are the lines of a file of metadata, by their names. A description follows after an empty line.
func (w *wheel) headers(file string) map[string][]string {
	found := map[string][]string{}
	head, _, _ := bytes.Cut(bytes.ReplaceAll(w.texts[file], []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	for _, line := range strings.Split(string(head), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, " ") {
			found[name] = append(found[name], strings.TrimSpace(value))
		}
	}
	return found
}
