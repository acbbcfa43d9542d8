package matrix

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/tomlfmt"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/version"
)

// File is where a project adds environments to those that follow from the requirements of its packages.
const File = "conformance/matrix.toml"

// suite is what the conformance suite itself needs in every environment; its workers make arrays with NumPy.
var suite = []string{"numpy>=2.1", "ml-dtypes>=0.5"}

// bareCallers are the callers that need no adaptor.
var bareCallers = []string{"backend", "native", "op_call"}

// Environment is one of a matrix: which packages, under which Python, and who is tested there.
type Environment struct {
	Name string `toml:"name"`
	// Python is a series, "3.12". Without one it is the oldest or the newest of the machine for which there are packages.
	Python string `toml:"python"`
	// Requires are requirements as pip reads them. Oldest asks for the lowest versions that they allow.
	Requires []string `toml:"requires"`
	Oldest   bool     `toml:"oldest"`
	// Adaptors are the callers that are tested.
	Adaptors []string `toml:"adaptors"`
	// Reason says why there cannot be such an environment.
	Reason string `toml:"-"`
	// wheels are files that are installed with what is required.
	wheels []string
}

// packages are the adaptors among those who are tested: of the others, none has a package of its own.
func (e *Environment) packages(p *opdef.Project) []string {
	return slices.DeleteFunc(slices.Clone(p.Manifest.Adaptors), func(name string) bool { return !slices.Contains(e.Adaptors, name) })
}

// Environments lists those of a project: for the bare library and for each adaptor the oldest and the newest versions
// that its package says to support, the cheapest adaptors under every Python found, and what the project adds.
func Environments(p *opdef.Project, pythons []Interpreter) ([]Environment, error) {
	added, defaults, err := readFile(filepath.Join(p.Dir, filepath.FromSlash(File)))
	if err != nil {
		return nil, err
	}
	var all []Environment
	if defaults {
		if all, err = derived(p, pythons); err != nil {
			return nil, err
		}
	}
	for _, e := range added {
		// Folders have the names, in which spaces do not count.
		if slices.ContainsFunc(all, func(o Environment) bool { return slug(o.Name) == slug(e.Name) }) {
			return nil, fmt.Errorf("%s: environment %q is there already", File, e.Name)
		}
		all = append(all, e)
	}
	return all, nil
}

// derived are the environments that follow from the packages.
func derived(p *opdef.Project, pythons []Interpreter) ([]Environment, error) {
	backend, err := readPackage(filepath.Join(p.Dir, "backend", "python"), p.Manifest.Name)
	if err != nil {
		return nil, err
	}
	base := merge(backend.requires, suite)
	all, light := pair("backend", base, bareCallers), slices.Clone(bareCallers)
	for _, name := range p.Manifest.Adaptors {
		adaptor, err := readPackage(filepath.Join(p.Dir, "adaptors", name), p.Manifest.Name)
		if err != nil {
			return nil, err
		}
		fw, _ := framework.ByName(name)
		if lacks := unlisted(&fw, slices.Concat(adaptor.requires, fw.Suite)); lacks != "" {
			all = append(all, Environment{Name: name, Adaptors: []string{name}, Reason: lacks})
			continue
		}
		requires := merge(base, adaptor.requires, fw.Suite)
		if len(requires) == len(base) {
			light = append(light, name)
		}
		all = append(all, pair(name, requires, []string{name})...)
	}
	for _, series := range seriesOf(pythons) {
		if backend.python != "" && version.Older(series, backend.python) {
			continue
		}
		all = append(all, Environment{Name: "Python " + series, Python: series, Requires: base, Adaptors: light})
	}
	return all, nil
}

// pair is the oldest and the newest environment of a package.
func pair(name string, requires, adaptors []string) []Environment {
	return []Environment{
		{Name: name + " oldest", Requires: requires, Oldest: true, Adaptors: adaptors},
		{Name: name + " newest", Requires: requires, Adaptors: adaptors},
	}
}

// unlisted says why what an environment gets does not bring a framework; empty where it does.
func unlisted(fw *framework.Framework, requires []string) string {
	if len(fw.Packages) == 0 || slices.ContainsFunc(requires, func(r string) bool { return fw.Owns(distribution(r)) }) {
		return ""
	}
	reason := "the requirements of its package do not bring " + fw.Title
	if fw.Note != "" {
		reason += ": " + fw.Note
	}
	return reason
}

// pack is what a package says about what it needs.
type pack struct {
	requires []string
	// python is the oldest series, "3.10".
	python string
}

// namePattern is such that a name is that of a folder, too.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._-]*$`)

var minimum = regexp.MustCompile(`>= *(\d+\.\d+)`)

// readPackage reads pyproject.toml; the packages of the collection itself are no requirements of it.
func readPackage(dir, collection string) (pack, error) {
	var text struct {
		Project struct {
			RequiresPython string   `toml:"requires-python"`
			Dependencies   []string `toml:"dependencies"`
		} `toml:"project"`
	}
	path := filepath.Join(dir, "pyproject.toml")
	content, err := os.ReadFile(path)
	if err != nil {
		return pack{}, fmt.Errorf("read requirements: %w", err)
	}
	if err := tomlfmt.Read(content, &text); err != nil {
		return pack{}, fmt.Errorf("read %s: %w", path, err)
	}
	out := pack{}
	if found := minimum.FindStringSubmatch(text.Project.RequiresPython); found != nil {
		out.python = found[1]
	}
	for _, d := range text.Project.Dependencies {
		if !strings.HasPrefix(distribution(d), distribution(collection)+"-") {
			out.requires = append(out.requires, d)
		}
	}
	return out, nil
}

// readFile reads the environments that a project adds, and whether it wants those that follow from its packages, too.
func readFile(path string) (added []Environment, defaults bool, err error) {
	file := struct {
		Defaults    bool          `toml:"defaults"`
		Environment []Environment `toml:"environment"`
	}{Defaults: true}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err == nil {
		err = tomlfmt.ReadStrictly(content, &file)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", File, err)
	}
	for i, e := range file.Environment {
		if e.Name == "" || len(e.Requires) == 0 || len(e.Adaptors) == 0 {
			return nil, false, fmt.Errorf("%s: environment %d: expected name, requires and adaptors", File, i+1)
		}
		if !namePattern.MatchString(e.Name) {
			return nil, false, fmt.Errorf("%s: environment %d: name %q: expected letters, digits, spaces, dots, - and _", File, i+1, e.Name)
		}
	}
	return file.Environment, file.Defaults, nil
}

func find(all []Environment, name string) (Environment, bool) {
	i := slices.IndexFunc(all, func(e Environment) bool { return e.Name == name })
	if i < 0 {
		return Environment{}, false
	}
	return all[i], true
}

func names(all []Environment) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].Name
	}
	return out
}

var separators = regexp.MustCompile(`[^A-Za-z0-9._-].*|[<>=!~].*`)

// distribution is the name in a requirement, as the index writes it.
func distribution(requirement string) string {
	name := separators.ReplaceAllString(strings.TrimSpace(requirement), "")
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// merge joins requirements. A name without versions adds nothing to one with them; of two that differ both hold.
func merge(lists ...[]string) []string {
	var out []string
	for _, r := range slices.Concat(lists...) {
		i := slices.IndexFunc(out, func(o string) bool { return distribution(o) == distribution(r) })
		switch {
		case i < 0:
			out = append(out, r)
		case out[i] != r && distribution(r) != r:
			out = append(out, r)
		}
	}
	return out
}

// wheels are the files that an environment needs to call a collection through adaptors: the backend's and one for each of them.
func wheels(o Options, adaptors []string) (files []string, err error) {
	if o.Wheels == "" {
		return nil, nil
	}
	for _, name := range append([]string{"backend"}, adaptors...) {
		pattern := o.Project.Manifest.Name + "_" + name + "-*.whl"
		found, err := fs.Glob(os.DirFS(o.Wheels), pattern)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%w: expected one %s in %s, there are %d", ErrWheels, pattern, o.Wheels, len(found))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, filepath.Join(o.Wheels, found[0]))
	}
	return files, nil
}
