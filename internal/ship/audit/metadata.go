package audit

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/system/version"
)

// wheelName is what the name of a wheel says; sets of tags are lists with dots.
type wheelName struct{ distribution, version, python, abi, platform string }

var wheelPattern = regexp.MustCompile(`^([A-Za-z0-9_.]+)-([A-Za-z0-9_.+!]+)(?:-[0-9][A-Za-z0-9_.]*)?-([a-z0-9_.]+)-([a-z0-9_.]+)-([a-z0-9_.]+)\.whl$`)

func parseWheelName(name string) (wheelName, bool) {
	m := wheelPattern.FindStringSubmatch(name)
	if m == nil {
		return wheelName{}, false
	}
	return wheelName{m[1], m[2], m[3], m[4], m[5]}, true
}

// tags are all tags of the name, sorted: "py3-none-any".
func (n wheelName) tags() (tags []string) {
	for _, python := range strings.Split(n.python, ".") {
		for _, abi := range strings.Split(n.abi, ".") {
			for _, platform := range strings.Split(n.platform, ".") {
				tags = append(tags, python+"-"+abi+"-"+platform)
			}
		}
	}
	slices.Sort(tags)
	return tags
}

var separators = regexp.MustCompile(`[-_.]+`)

// normalized is the name of a distribution as others compare it.
func normalized(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

// record compares the list of files with the files.
func (w *wheel) record() {
	folder := w.infoFolder()
	name := path.Join(folder, "RECORD")
	text, ok := w.texts[name]
	if folder == "" || !ok {
		w.add(w.file, "W002", "build it again", "it has no %s-%s.dist-info/RECORD", w.name.distribution, w.name.version)
		return
	}
	lines := csv.NewReader(bytes.NewReader(text))
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	listed := map[string]bool{name: true, name + ".jws": true, name + ".p7s": true}
	for {
		if len(listed) > mostRecorded {
			w.add(w.file, "W002", "build it again", "its RECORD lists more than %d files", mostRecorded)
			return
		}
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.add(w.file, "W002", "build it again", "its RECORD cannot be read: %v", err)
			return
		}
		if len(line) != 3 {
			w.add(w.file, "W002", "build it again", "its RECORD has a line of %d parts, not 3", len(line))
			continue
		}
		if signed := listed[line[0]]; !signed {
			w.recorded(line)
		}
		listed[line[0]] = true
	}
	for _, file := range slices.Sorted(maps.Keys(w.sums)) {
		if !listed[file] {
			w.add(w.file, "W002", "build it again; nothing is added to a wheel later", "its RECORD does not list %s", shown(file))
		}
	}
}

// mostRecorded is how many files a RECORD may list. That of PyTorch lists some 15,000.
const mostRecorded = 1 << 18

// recorded compares a line of the list: the name, the digest and the size.
func (w *wheel) recorded(line []string) {
	sum, ok := w.sums[line[0]]
	switch {
	case !ok:
		w.add(w.file, "W002", "build it again", "its RECORD lists %s, which is not in it", shown(line[0]))
	case sum == "": // it was reported
	case !strings.HasPrefix(line[1], "sha256="):
		w.add(w.file, "W002", "build it again", "its RECORD has no SHA-256 of %s", shown(line[0]))
	case sum != line[1] || line[2] != "" && line[2] != strconv.FormatInt(w.sizes[line[0]], 10):
		w.add(w.file, "W002", "build it again; nothing in a wheel is changed later", "%s is not what its RECORD says", shown(line[0]))
	}
}

// metadata compares what the files of metadata say with the name.
func (w *wheel) metadata() {
	folder := w.infoFolder()
	if folder == "" {
		return // that is reported
	}
	about, how := w.headers(path.Join(folder, "METADATA")), w.headers(path.Join(folder, "WHEEL"))
	first := func(list []string) string { return strings.Join(list, " ") }
	if got := first(about["Name"]); normalized(got) != normalized(w.name.distribution) {
		w.add(w.file, "W003", "build it again", "its METADATA says that it is \"%s\"", shown(got))
	}
	if got := first(about["Version"]); strings.ReplaceAll(got, "-", "_") != w.name.version {
		w.add(w.file, "W003", "build it again", "its METADATA has the version \"%s\"", shown(got))
	}
	tags := slices.Clone(how["Tag"])
	slices.Sort(tags)
	if !slices.Equal(slices.Compact(tags), w.name.tags()) {
		w.add(w.file, "W003", "build it again; wheel tags changes both", "its WHEEL has the tags %s, and its name %s",
			shown(strings.Join(tags, " ")), strings.Join(w.name.tags(), " "))
	}
	if pure := first(how["Root-Is-Purelib"]); w.libraries > 0 && pure != "false" {
		w.add(w.file, "W003", "say Root-Is-Purelib: false", "its WHEEL says Root-Is-Purelib: %s, and it has libraries", shown(pure))
	}
}

var platformPattern = regexp.MustCompile(`^manylinux_([0-9]+)_([0-9]+)_(.+)$`)

// otherLibrary is a platform with the C library musl.
var otherLibrary = regexp.MustCompile(`^musllinux_[0-9]+_[0-9]+_(.+)$`)

// older are the names of platforms from before PEP 600, with the glibc that they promise.
var older = map[string]string{"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}

// promised is the glibc with which a platform promises to work, and the machine.
func promised(platform string) (glibc, machine string, ok bool) {
	if m := platformPattern.FindStringSubmatch(platform); m != nil {
		return m[1] + "." + m[2], m[3], true
	}
	name, machine, _ := strings.Cut(platform, "_")
	glibc, ok = older[name]
	return glibc, machine, ok
}

// promises are the highest versions of symbols that wheels with a tag may need, beside glibc's: that of auditwheel's policies. A
// tag between two of them promises what the lower one does.
var promises = []struct {
	glibc  string
	limits map[string]string
}{
	{"2.5", map[string]string{"GLIBCXX": "3.4.8", "CXXABI": "1.3.1", "GCC": "4.2.0"}},
	{"2.12", map[string]string{"GLIBCXX": "3.4.13", "CXXABI": "1.3.3", "GCC": "4.3.0"}},
	{"2.17", map[string]string{"GLIBCXX": "3.4.19", "CXXABI": "1.3.7", "GCC": "4.8.0"}},
	{"2.24", map[string]string{"GLIBCXX": "3.4.22", "CXXABI": "1.3.10", "GCC": "4.8.0"}},
	{"2.27", map[string]string{"GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"}},
}

// exceeds is a version that the wheel needs and a platform with a glibc does not promise, and the version that it does.
func (w *wheel) exceeds(glibc string) (need, limit string) {
	if own := w.newest["GLIBC"]; own != "" && version.Older(glibc, own) {
		return "glibc " + own, "glibc " + glibc
	}
	for _, p := range slices.Backward(promises) {
		if version.Older(glibc, p.glibc) {
			continue
		}
		for _, word := range slices.Sorted(maps.Keys(p.limits)) {
			if own := w.newest[word]; version.Older(p.limits[word], own) {
				return word + "_" + own, word + "_" + p.limits[word]
			}
		}
		break
	}
	return "", ""
}

// least is the lowest tag that promises what the wheel needs; the standard's, if none does.
func (w *wheel) least() string {
	for _, p := range promises {
		glibc := p.glibc
		if own := w.newest["GLIBC"]; version.Older(glibc, own) {
			glibc = own
		}
		if need, _ := w.exceeds(glibc); need == "" {
			return "manylinux_" + strings.ReplaceAll(glibc, ".", "_")
		}
	}
	return w.standard.Name
}

// platforms compares the platforms of the name with what is in the wheel.
func (w *wheel) platforms() {
	_, limit, _ := strings.Cut(w.standard.Name, "_")
	limit = strings.ReplaceAll(limit, "_", ".")
	for _, platform := range strings.Split(w.name.platform, ".") {
		glibc, on, ok := promised(platform)
		if m := otherLibrary.FindStringSubmatch(platform); m != nil { // of another C library, for programs without one
			if glibc, on, ok = limit, m[1], true; w.newest["GLIBC"] != "" {
				w.add(w.file, "W004", "leave it out of the tag", "its tag %s promises another C library, and it needs glibc %s", platform, w.newest["GLIBC"])
			}
		}
		switch {
		case platform == "any" && w.libraries == 0:
		case platform == "any":
			w.add(w.file, "W004", "give it the tag "+w.standard.Name+"_"+machine, "its tag says any platform, and it has libraries")
		case !ok:
			w.add(w.file, "W004", "give it the tag "+w.standard.Name+"_"+machine, "its tag %s is none that package indexes take for Linux", platform)
		case on != machine:
			w.add(w.file, "W004", "build it on and for "+machine, "its tag is for %s", on)
		case version.Older(limit, glibc):
			w.add(w.file, "W004", "link with opcast build --portable", "its tag asks for glibc %s, and %s has %s", glibc, w.standard.Name, limit)
		default:
			if need, promised := w.exceeds(glibc); need != "" {
				w.add(w.file, "W004", "give it the tag "+w.least()+"_"+machine, "its tag promises %s, and its libraries need %s", promised, need)
			}
		}
	}
}
