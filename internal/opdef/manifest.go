package opdef

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/framework"
)

// ManifestFile is the name of the manifest in a project's folder.
const ManifestFile = "opcast.toml"

// maxKind is the greatest number that an op can have: OpKind is 16 bits wide.
const maxKind = 1<<16 - 1

// deviceNames are the devices that an op can have kernels for.
var deviceNames = []string{"cpu", "cuda", "rocm"}

var (
	releasePattern  = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?((a|b|rc)[0-9]+)?(\.dev[0-9]+)?$`)
	requiresPattern = regexp.MustCompile(`^(>=|<=|==|~=|<|>) ?[0-9]+(\.[0-9]+)*(, ?(>=|<=|==|~=|<|>) ?[0-9]+(\.[0-9]+)*)*$`)
	licensePattern  = regexp.MustCompile(`^[A-Za-z0-9.+() -]+$`)
	definePattern   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=[^[:cntrl:]]*)?$`)
)

// manifestChecker turns opcast.toml into a Manifest.
type manifestChecker struct {
	doc    *document
	raw    rawManifest
	diags  *diag.List
	leaves func(glob string) string
}

func (c *manifestChecker) report(path, code, hint, format string, args ...any) {
	c.diags.Add(c.doc.at(path), code, hint, format, args...)
}

// checkManifest builds the manifest of a document; what the file leaves out has its default. leaves returns the part of a
// glob, or a file that it matches, that is a link out of the project, or "".
func checkManifest(doc *document, leaves func(glob string) string, diags *diag.List) Manifest {
	c := &manifestChecker{doc: doc, diags: diags, leaves: leaves}
	doc.decode(&c.raw)
	c.identity()
	c.choices()
	c.paths()
	c.build()
	m := Manifest{
		Name: c.raw.Name, Version: c.raw.Version, License: c.raw.License, Namespace: c.raw.Namespace, RequiresOpcast: c.raw.RequiresOpcast,
		Adaptors: c.raw.Adaptors, Devices: c.raw.Devices,
		Sources: c.raw.Sources, Include: c.raw.Include, Defines: c.raw.Defines, Link: c.raw.Link,
		CUDA: c.raw.CUDA, Files: c.raw.Files, Headers: c.raw.Headers, Retired: c.raw.Retired,
	}
	if !doc.has("adaptors") {
		m.Adaptors = framework.Defaults()
	}
	if !doc.has("devices") {
		m.Devices = []string{"cpu"}
	}
	return m
}

// identity checks the names, version, license and requires-opcast.
func (c *manifestChecker) identity() {
	for _, key := range []struct {
		name, value string
		required    bool
		pattern     *regexp.Regexp
		hint        string
	}{
		{"version", c.raw.Version, true, releasePattern, `for example "0.1.0"`},
		{"license", c.raw.License, true, licensePattern, `an SPDX expression, for example "Apache-2.0"`},
		{"requires-opcast", c.raw.RequiresOpcast, false, requiresPattern, `for example ">=0.1"`},
	} {
		given := c.doc.has(key.name)
		switch {
		case !given && key.required:
			c.report("", codeMissing, key.hint, "missing key %q", key.name)
		case given && !c.doc.tainted(key.name) && (!key.pattern.MatchString(key.value) || len(key.value) > maxName):
			c.report(key.name, codeManifest, key.hint, "%q is no valid %s", key.value, key.name)
		}
	}
	if !c.doc.has("name") {
		c.report("", codeMissing, snakeHint, "missing key %q", "name")
	}
	for _, key := range []struct{ name, value string }{{"name", c.raw.Name}, {"namespace", c.raw.Namespace}} {
		if c.doc.has(key.name) && !c.doc.tainted(key.name) {
			if fault := collectionNameFault(key.value); fault != nil {
				c.report(key.name, fault.Code, fault.Hint, "%s", fault.Text)
			}
		}
	}
}

// choices checks the lists of adaptors and devices, and the retired kinds.
func (c *manifestChecker) choices() {
	for _, key := range []struct {
		name          string
		list, allowed []string
	}{{"adaptors", c.raw.Adaptors, framework.Names()}, {"devices", c.raw.Devices, deviceNames}} {
		if c.doc.has(key.name) && len(key.list) == 0 && !c.doc.tainted(key.name) {
			c.report(key.name, codeManifest, "leave the key out for the default", "%s is empty", key.name)
		}
		for i, word := range key.list {
			where := element(key.name, i)
			switch {
			case c.doc.tainted(where):
			case !slices.Contains(key.allowed, word):
				c.report(where, codeChoice, "expected "+diag.OneOf(key.allowed), "unknown entry %q of %s", word, key.name)
			case slices.Contains(key.list[:i], word):
				c.report(where, codeManifest, "", "%s is listed twice", word)
			}
		}
	}
	for i, kind := range c.raw.Retired {
		if where := element("retired", i); kind < 0 || kind > maxKind {
			c.report(where, codeKind, "", "retired kind %d is not between 0 and %d", kind, maxKind)
		}
	}
}

// paths checks that every path and glob stays in the project.
func (c *manifestChecker) paths() {
	for _, key := range []struct {
		name string
		list []string
	}{{"sources", c.raw.Sources}, {"include", c.raw.Include}} {
		for i, p := range key.list {
			c.path(element(key.name, i), p)
		}
	}
	for i, f := range c.raw.Files {
		where := element("files", i)
		if c.doc.has(join(where, "match")) {
			c.path(join(where, "match"), f.Match)
		} else {
			c.report(where, codeMissing, `for example match = "csrc/cuda/*_sm90.cu"`, "missing key %q", "match")
		}
	}
}

// path checks one glob: relative, within the project, and not through a link that leads out of it.
func (c *manifestChecker) path(where, p string) {
	const hint = "write it relative to opcast.toml, with slashes"
	switch _, err := path.Match(p, ""); {
	case c.doc.tainted(where):
	case p == "" || strings.ContainsFunc(p, unicode.IsControl) || strings.Contains(p, `\`):
		c.report(where, codePath, hint, "%q is no path", p)
	case err != nil:
		c.report(where, codePath, "", "%q is no glob: %s", p, err)
	case path.IsAbs(p):
		c.report(where, codePath, hint, "%q is absolute", p)
	case slices.Contains(strings.Split(p, "/"), ".."):
		c.report(where, codePath, hint, "%q leaves the project", p)
	default:
		if link := c.leaves(p); link != "" {
			c.report(where, codePath, "copy the files into the project", "%s is a link that leaves the project", link)
		}
	}
}

// build checks what goes to the compiler's command line.
func (c *manifestChecker) build() {
	for i, text := range c.raw.Defines {
		if where := element("defines", i); !c.doc.tainted(where) && !definePattern.MatchString(text) {
			c.report(where, codeManifest, `for example "NAME" or "NAME=1"`, "%q is no macro definition", text)
		}
	}
	c.options("link", c.raw.Link)
	c.options(join("cuda", "flags"), c.raw.CUDA.Flags)
	for i, f := range c.raw.Files {
		c.options(join(element("files", i), "flags"), f.Flags)
	}
	for _, name := range keys(c.raw.Headers) {
		where := join("headers", name)
		if h := c.raw.Headers[name]; !c.doc.tainted(where) && (h.Pip == "") == (h.Path == "") {
			c.report(where, codeManifest, "", "header package %s needs either pip or path", name)
		}
	}
}

// options checks words for the compiler: ninja has no way to write a line break, and no system one to pass a NUL.
func (c *manifestChecker) options(key string, words []string) {
	for i, word := range words {
		if where := element(key, i); !c.doc.tainted(where) && (word == "" || strings.ContainsFunc(word, unicode.IsControl)) {
			c.report(where, codeManifest, "one option per entry, on one line", "%q is no compiler option", word)
		}
	}
}
