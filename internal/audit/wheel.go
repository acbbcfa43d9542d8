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
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/version"
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
	// texts are its members in the folder of metadata, by their names without it.
	texts map[string][]byte
	// glibc is the newest one that its libraries need, libraries their number.
	glibc     string
	libraries int
}

// Wheel judges a wheel of some bytes. The last part of the name is the wheel's.
func Wheel(name string, r io.ReaderAt, size int64, rules Rules) (*Report, error) {
	standard, err := rules.standard()
	if err != nil {
		return nil, err
	}
	report := &Report{File: name, Libraries: []Facts{}}
	w := &wheel{judge: judge{rules: rules, standard: standard, report: report}, file: name,
		sums: map[string]string{}, sizes: map[string]int64{}, texts: map[string][]byte{}}
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
	w.record()
	w.metadata()
	w.platforms()
	return report, nil
}

// members reads all files of the wheel. An error is the machine's.
func (w *wheel) members(archive *zip.Reader) error {
	for _, f := range archive.File {
		if base := path.Base(f.Name); strings.Contains(base, ".so") {
			w.inside = append(w.inside, base)
		}
	}
	var total uint64
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if _, twice := w.sums[f.Name]; twice || !filepath.IsLocal(f.Name) || strings.Contains(f.Name, `\`) {
			w.add(w.file, "W005", "build it again", "the name of %q in it occurs twice, or leads out of it", f.Name)
			continue
		}
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

// member reads one file. Libraries go to the disk, since they may be as large as the memory.
func (w *wheel) member(f *zip.File) error {
	w.sums[f.Name] = "" // it is there, even if it cannot be read
	content, err := f.Open()
	if err != nil {
		w.add(w.file, "W005", "build it again, or copy it again", "%s in it cannot be read: %v", f.Name, err)
		return nil
	}
	defer func() { _ = content.Close() }() // what was wrong is known by then
	sum := sha256.New()
	in := bufio.NewReader(io.TeeReader(io.LimitReader(content, int64(f.UncompressedSize64)+1), sum))
	head, _ := in.Peek(4) // shorter files are no libraries
	folder, base := path.Split(f.Name)
	switch {
	case string(head) == "\x7fELF":
		err = w.takeLibrary(f.Name, in)
	case path.Ext(base) == ".so":
		w.add(w.file, "A009", "build it again", "%s in it is no ELF file", f.Name)
		_, err = io.Copy(io.Discard, in)
	case strings.HasSuffix(folder, ".dist-info/") && strings.Count(folder, "/") == 1 && f.UncompressedSize64 < 64<<20:
		w.texts[f.Name], err = io.ReadAll(in)
	default:
		_, err = io.Copy(io.Discard, in)
	}
	var local *os.PathError
	if errors.As(err, &local) {
		return fmt.Errorf("audit %s: %w", w.file, err)
	}
	if err != nil {
		w.add(w.file, "W005", "build it again, or copy it again", "%s in it cannot be read: %v", f.Name, err)
		return nil
	}
	w.sums[f.Name] = "sha256=" + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
	w.sizes[f.Name] = int64(f.UncompressedSize64)
	return nil
}

// takeLibrary judges a library in the wheel.
func (w *wheel) takeLibrary(name string, in io.Reader) error {
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
	if isProgram(name) {
		w.program(w.file+"/"+name, file, size)
		return nil
	}
	w.libraries++
	if lib := w.library(w.file+"/"+name, file, size); lib != nil {
		if glibc := highest(lib.Versions)["GLIBC"]; w.glibc == "" || version.Older(w.glibc, glibc) {
			w.glibc = glibc
		}
	}
	return nil
}

// isProgram says whether installers put a file of a wheel among the commands.
func isProgram(name string) bool {
	folder, _ := path.Split(name)
	return strings.HasSuffix(folder, ".data/scripts/") && strings.Count(folder, "/") == 2
}

// infoFolder is the folder of metadata, empty if there is none or another one.
func (w *wheel) infoFolder() string {
	for name := range w.texts {
		folder := path.Dir(name)
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
