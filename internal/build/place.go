package build

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/opcast/opcast/internal/build/tree"
)

// place names the files that compilers read, so that a copy of the project, or another environment, has the same names: what
// counts is what a file holds, and by which option it was found.
type place struct {
	project string
	outside []prefix
}

// prefix is a folder outside of the project, and what stands for it in names.
type prefix struct{ name, folder string }

func newPlace(in inputs) place {
	p := place{project: in.project.Dir}
	add := func(name, folder string) {
		if folder != "" {
			p.outside = append(p.outside, prefix{name + "/", filepath.Clean(folder) + "/"})
		}
	}
	add("$tvm_ffi", in.env.TVMInclude)
	for _, h := range in.handlers {
		add("$"+h.Handlers.Package, in.env.Includes[h.Handlers.Package])
	}
	if in.cuda != nil {
		add("$cuda", filepath.Dir(filepath.Dir(in.cuda.NVCC)))
	}
	for _, h := range in.headers {
		for i, folder := range h.Folders {
			add(h.variable(i), folder)
		}
	}
	add("$site", in.env.Site)
	return p
}

// name is the name of a file that ninja reports.
func (p place) name(file string) string {
	file = filepath.Clean(file)
	for _, r := range p.outside {
		if rest, ok := strings.CutPrefix(file, r.folder); ok {
			return r.name + rest
		}
	}
	return strings.TrimPrefix(file, p.project+"/")
}

// file is where the file of a name lies.
func (p place) file(name string) string {
	for _, r := range p.outside {
		if rest, ok := strings.CutPrefix(name, r.name); ok {
			return r.folder + rest
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return tree.Local(p.project, name)
}

// look is what is known of files at one time.
type look struct {
	tree.Digests
	place place
	// headers are those of the project, by their names without folders.
	headers map[string][]string
	// asked are the headers for which a file asks. Many units read the same files.
	asked map[string][]string
}

func newLook(in inputs) (*look, error) {
	l := &look{Digests: tree.Digests{}, place: newPlace(in), headers: map[string][]string{}, asked: map[string][]string{}}
	files, err := in.files()
	for _, f := range files {
		l.headers[path.Base(f)] = append(l.headers[path.Base(f)], f)
	}
	return l, err
}

// same says whether a compiler would read now what it read for a record.
func (l *look) same(made record) (bool, error) {
	for name, want := range made.Reads {
		if digest, err := l.Of(l.place.file(name)); err != nil || digest != want {
			return false, err
		}
	}
	return slices.Equal(made.Namesakes, l.namesakes(made)), nil
}

// namesakes are the headers of the project that could take the place of what was compiled: they have the name of one that was
// read, or that a file asks for, and were not read.
func (l *look) namesakes(r record) (names []string) {
	add := func(header string) {
		for _, h := range l.headers[path.Base(header)] {
			if _, read := r.Reads[h]; !read {
				names = append(names, h)
			}
		}
	}
	for name := range r.Reads {
		add(name)
	}
	for _, header := range r.Asks {
		add(header)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var hasInclude = regexp.MustCompile(`__has_include(?:_next)?\s*\(\s*(?:"([^"]+)"|<([^>]+)>)`)

// asks are the headers whose existence the text of a file asks for.
func (l *look) asks(file string) ([]string, error) {
	if headers, ok := l.asked[file]; ok {
		return headers, nil
	}
	var headers []string
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	for _, m := range hasInclude.FindAllStringSubmatch(string(text), -1) {
		headers = append(headers, m[1]+m[2])
	}
	l.asked[file] = headers
	return headers, nil
}

// changed is when a file's content or place changed last. Programs can set other times of a file, but not this one.
func changed(file string) (time.Time, error) {
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}, fmt.Errorf("read sources: %w", err)
	}
	state, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, fmt.Errorf("read sources: %s has no time of change", file)
	}
	return time.Unix(state.Ctim.Unix()), nil
}
