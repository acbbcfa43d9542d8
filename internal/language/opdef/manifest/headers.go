package manifest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Header is a third-party header package, which comes from one of three kinds of places.
type Header struct {
	// Pip is a Python distribution, in which the folder Include holds the headers; Path is a folder of the project or an
	// absolute one; System is a package of the operating system.
	Pip, Path, System string
	Include           string
}

// HeaderPackage is a header package as the manifest names it.
type HeaderPackage struct {
	// Name is its name in the manifest, Kind one of "path", "pip" and "system", Place what the manifest says of that.
	Name, Kind, Place string
	// Include is the folder in a distribution, or "".
	Include string
}

// Inside says whether the headers lie in the project.
func (h HeaderPackage) Inside() bool { return h.Kind == "path" && !path.IsAbs(h.Place) }

// HeaderPackages lists the third-party headers by name. The manifest has no mistakes.
func (m *Manifest) HeaderPackages() []HeaderPackage {
	var out []HeaderPackage
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		kinds := m.Headers[name].kinds()
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			place := kinds[kind]
			if kind == "path" {
				place = path.Clean(place)
			}
			out = append(out, HeaderPackage{name, kind, place, m.Headers[name].Include})
		}
	}
	return out
}

// kinds are the keys that say where the headers come from, with their values.
func (h Header) kinds() map[string]string {
	kinds := map[string]string{"pip": h.Pip, "path": h.Path, "system": h.System}
	maps.DeleteFunc(kinds, func(_, value string) bool { return value == "" })
	return kinds
}

// A distribution is named as PEP 508 says, a package of the system as pkg-config takes it.
var (
	headerPattern       = regexp.MustCompile(`^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$`)
	distributionPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	systemPattern       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]*$`)
)

// headers checks the tables of third-party headers. Whether the headers are there depends on the machine, and the build says so.
func (c *checker) headers() {
	for _, name := range slices.Sorted(maps.Keys(c.manifest.Headers)) {
		where, h := tomldoc.Join("headers", name), c.manifest.Headers[name]
		given := slices.DeleteFunc([]string{"path", "pip", "system"}, func(kind string) bool { return !c.doc.Has(tomldoc.Join(where, kind)) })
		switch {
		case c.doc.Tainted(where):
			continue
		case !headerPattern.MatchString(name) || len(name) > names.MaxLength:
			c.report(where, code.Manifest, "letters and digits, joined by - or _", "%q is no name of a header package", name)
		case len(given) == 0:
			c.report(where, code.Manifest, `for example pip = "pybind11"`, "header package %s has none of path, pip and system", name)
		case len(given) > 1:
			c.report(where, code.Manifest, "leave one", "header package %s has %s", name, strings.Join(given, " and "))
		}
		c.headerPlaces(where, h)
	}
}

// headerPlaces checks the values of a header package.
func (c *checker) headerPlaces(where string, h Header) {
	for _, key := range []struct {
		name, value string
		pattern     *regexp.Regexp
		what        string
	}{{"pip", h.Pip, distributionPattern, "name of a Python distribution"}, {"system", h.System, systemPattern, "name of a system package"}} {
		at := tomldoc.Join(where, key.name)
		if c.doc.Given(at) && (!key.pattern.MatchString(key.value) || len(key.value) > names.MaxLength) {
			c.report(at, code.Manifest, "", "%q is no %s", key.value, key.what)
		}
	}
	if at := tomldoc.Join(where, "path"); c.doc.Given(at) && (!path.IsAbs(h.Path) || strings.ContainsFunc(h.Path, notInPath)) {
		const hint = "copy the headers into the project, or write their folder as an absolute path"
		c.pathOr(at, h.Path, hint, hint)
	}
	at := tomldoc.Join(where, "include")
	switch inside := path.Clean(h.Include); {
	case !c.doc.Given(at):
	case !c.doc.Has(tomldoc.Join(where, "pip")):
		c.diags.Add(c.doc.KeyAt(at), code.Manifest, "", "include is the folder in a Python distribution, and goes with pip")
	case h.Include == "" || strings.ContainsFunc(h.Include, notInPath) || path.IsAbs(inside) || inside == ".." || strings.HasPrefix(inside, ".."):
		c.report(at, code.Path, "as pip show --files lists it, for example \"pybind11/include\"", "%q is no folder of a distribution", h.Include)
	}
}

// notInPath are characters that no path of a manifest has: what a shell or another system would read otherwise.
func notInPath(r rune) bool { return r == '\\' || unicode.IsControl(r) }
