// Package manifest checks opcast.toml, the file that describes a project: its name, its sources, and how they are built.
package manifest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/github/go-spdx/v2/spdxexp"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// File is the name of the manifest in a project's folder.
const File = "opcast.toml"

// MaxKind is the greatest number that an op can have: OpKind is 16 bits wide.
const MaxKind = 1<<16 - 1

// Devices are the devices that an op can have kernels for.
var Devices = []string{"cpu", "cuda", "rocm"}

var (
	releasePattern  = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc)[0-9]+)?(\.dev[0-9]+)?$`)
	requiresPattern = regexp.MustCompile(`^(>=|<=|==|~=|<|>) ?[0-9]+(\.[0-9]+)*(, ?(>=|<=|==|~=|<|>) ?[0-9]+(\.[0-9]+)*)*$`)
	licensePattern  = regexp.MustCompile(`^[A-Za-z0-9.+() -]+$`)
	definePattern   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=[^[:cntrl:]]*)?$`)
)

// checker turns opcast.toml into a Manifest.
type checker struct {
	doc      *tomldoc.Document
	manifest Manifest
	diags    *diag.List
	leaves   func(glob string) string
}

func (c *checker) report(path, code, hint, format string, args ...any) {
	c.diags.Add(c.doc.At(path), code, hint, format, args...)
}

// Check reads the manifest from a document and adds what is wrong with it to diags. Keys that the file leaves out have their
// defaults. The function leaves returns the part of a glob, or a file that it matches, that is a link out of the project; it
// returns "" for a glob that stays inside.
func Check(doc *tomldoc.Document, leaves func(glob string) string, diags *diag.List) Manifest {
	c := &checker{doc: doc, diags: diags, leaves: leaves}
	doc.Decode(&c.manifest)
	c.identity()
	c.choices()
	c.paths()
	c.build()
	c.headers()
	if !doc.Has("adaptors") {
		c.manifest.Adaptors = framework.Defaults()
	}
	if !doc.Has("devices") {
		c.manifest.Devices = []string{"cpu"}
	}
	return c.manifest
}

// identity checks the names, version, license and requires-opcast.
func (c *checker) identity() {
	for _, key := range []struct {
		name, value string
		required    bool
		pattern     *regexp.Regexp
		longest     int
		hint        string
	}{
		{"version", c.manifest.Version, true, releasePattern, names.MaxLength, `for example "0.1.0"`},
		{"license", c.manifest.License, true, licensePattern, longestLicense, licenseHint},
		{"requires-opcast", c.manifest.RequiresOpcast, false, requiresPattern, names.MaxLength, `for example ">=0.1"`},
	} {
		given := c.doc.Has(key.name)
		switch {
		case !given && key.required:
			c.report("", code.Missing, key.hint, "missing key %q", key.name)
		case given && !c.doc.Tainted(key.name) && (!key.pattern.MatchString(key.value) || len(key.value) > key.longest):
			c.report(key.name, code.Manifest, key.hint, "%q is no valid %s", key.value, key.name)
		}
	}
	c.license()
	if !c.doc.Has("name") {
		c.report("", code.Missing, names.SnakeHint, "missing key %q", "name")
	}
	for _, key := range []struct{ name, value string }{{"name", c.manifest.Name}, {"namespace", c.manifest.Namespace}} {
		if c.doc.Has(key.name) && !c.doc.Tainted(key.name) {
			if mistake := names.CollectionMistake(key.value); mistake != nil {
				c.report(key.name, mistake.Code, mistake.Hint, "%s", mistake.Text)
			}
		}
	}
}

// longestLicense is the length of the longest expression: parts of a collection can have many licenses.
const longestLicense = 500

const licenseHint = `an SPDX expression, for example "Apache-2.0", "MIT OR ISC", or "LicenseRef-Name" for a license of your own`

// license checks that indexes of packages will take the license.
func (c *checker) license() {
	text := c.manifest.License
	if !c.doc.Has("license") || c.doc.Tainted("license") || !licensePattern.MatchString(text) || len(text) > longestLicense {
		return // that is told, or nothing is to be told
	}
	if ok, _ := spdxexp.ValidateLicenses([]string{text}); !ok {
		c.report("license", code.Manifest, licenseHint, "%q is no SPDX expression: indexes refuse packages with such a license", text)
	}
}

// choices checks the lists of adaptors and devices, and the retired kinds.
func (c *checker) choices() {
	for _, key := range []struct {
		name          string
		list, allowed []string
	}{{"adaptors", c.manifest.Adaptors, framework.Names()}, {"devices", c.manifest.Devices, Devices}} {
		if c.doc.Has(key.name) && len(key.list) == 0 && !c.doc.Tainted(key.name) {
			c.report(key.name, code.Manifest, "leave the key out for the default", "%s is empty", key.name)
		}
		for i, word := range key.list {
			where := tomldoc.Element(key.name, i)
			switch {
			case c.doc.Tainted(where):
			case !slices.Contains(key.allowed, word):
				c.report(where, code.Choice, "expected "+diag.OneOf(key.allowed), "unknown entry %q of %s", word, key.name)
			case slices.Contains(key.list[:i], word):
				c.report(where, code.Manifest, "", "%s is listed twice", word)
			}
		}
	}
	for i, kind := range c.manifest.Retired {
		if where := tomldoc.Element("retired", i); kind < 0 || kind > MaxKind {
			c.report(where, code.Kind, "", "retired kind %d is not between 0 and %d", kind, MaxKind)
		}
	}
}

// paths checks that every path and glob stays in the project.
func (c *checker) paths() {
	for _, key := range []struct {
		name string
		list []string
	}{{"sources", c.manifest.Sources}, {"include", c.manifest.Include}} {
		for i, p := range key.list {
			c.path(tomldoc.Element(key.name, i), p)
		}
	}
	for i, f := range c.manifest.Files {
		where := tomldoc.Element("files", i)
		if c.doc.Has(tomldoc.Join(where, "match")) {
			c.path(tomldoc.Join(where, "match"), f.Match)
		} else {
			c.report(where, code.Missing, `for example match = "csrc/cuda/*_sm90.cu"`, "missing key %q", "match")
		}
	}
}

// path checks one glob: relative, within the project, and not through a link that leads out of it.
func (c *checker) path(where, p string) {
	c.pathOr(where, p, "write it relative to opcast.toml, with slashes", "copy the files into the project")
}

// pathOr is path with other hints: for what is no path of the project, and for a link that leads out of it.
func (c *checker) pathOr(where, p, hint, linkHint string) {
	switch _, err := path.Match(p, ""); {
	case c.doc.Tainted(where):
	case p == "" || strings.ContainsFunc(p, unicode.IsControl) || strings.Contains(p, `\`):
		c.report(where, code.Path, hint, "%q is no path", p)
	case err != nil:
		c.report(where, code.Path, "", "%q is no glob: %s", p, err)
	case path.IsAbs(p):
		c.report(where, code.Path, hint, "%q is absolute", p)
	case slices.Contains(strings.Split(p, "/"), ".."):
		c.report(where, code.Path, hint, "%q leaves the project", p)
	default:
		if link := c.leaves(p); link != "" {
			c.report(where, code.Path, linkHint, "%s is a link that leaves the project", link)
		}
	}
}

// build checks what goes to the compiler's command line.
func (c *checker) build() {
	for i, text := range c.manifest.Defines {
		if where := tomldoc.Element("defines", i); !c.doc.Tainted(where) && !definePattern.MatchString(text) {
			c.report(where, code.Manifest, `for example "NAME" or "NAME=1"`, "%q is no macro definition", text)
		}
	}
	c.options("link", c.manifest.Link)
	c.options(tomldoc.Join("cuda", "flags"), c.manifest.CUDA.Flags)
	c.options(tomldoc.Join("rocm", "flags"), c.manifest.ROCm.Flags)
	for i, f := range c.manifest.Files {
		c.options(tomldoc.Join(tomldoc.Element("files", i), "flags"), f.Flags)
	}
}

// options checks words for the compiler: ninja has no way to write a line break, and no system one to pass a NUL.
func (c *checker) options(key string, words []string) {
	for i, word := range words {
		if where := tomldoc.Element(key, i); !c.doc.Tainted(where) && (word == "" || strings.ContainsFunc(word, unicode.IsControl)) {
			c.report(where, code.Manifest, "one option per entry, on one line", "%q is no compiler option", word)
		}
	}
}
