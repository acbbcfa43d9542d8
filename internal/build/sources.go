package build

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// cppSuffixes are the source files that the C++ compiler takes.
var cppSuffixes = []string{".cc", ".cpp", ".cxx"}

// findSources lists the kernel files that the globs match, sorted; headers among them are left to the compiler.
func findSources(dir string, globs []string) ([]string, error) {
	var sources []string
	for _, g := range globs {
		files, err := glob(dir, g)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			switch suffix := path.Ext(f); {
			case slices.Contains(cppSuffixes, suffix):
				sources = append(sources, f)
			case suffix == ".cu":
				return nil, fmt.Errorf("%s: this version of opcast builds no CUDA sources", f)
			}
		}
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("opcast.toml: sources %q match no C++ file", globs)
	}
	slices.Sort(sources)
	return slices.Compact(sources), nil
}

// glob lists the files below dir that the pattern matches, as sorted slash paths. "**" matches any number of folders.
// Hidden folders, build and dist are never searched unless the pattern names them.
func glob(dir, pattern string) ([]string, error) {
	root := "."
	for _, part := range strings.Split(path.Dir(pattern), "/") {
		if strings.ContainsAny(part, "*?") {
			break
		}
		root = path.Join(root, part)
	}
	matches, found := matcher(pattern), []string(nil)
	err := fs.WalkDir(os.DirFS(dir), root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && skipped(d.Name()):
			return fs.SkipDir
		case !d.IsDir() && matches(p):
			found = append(found, p)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("find %s: %w", pattern, err)
	}
	return found, nil
}

func skipped(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "build" || folder == "dist"
}

// matcher turns a glob into a test of slash paths.
func matcher(pattern string) func(string) bool {
	re := regexp.QuoteMeta(path.Clean(pattern))
	for _, r := range [][2]string{
		{`\*\*/`, `(?:.+/)?`}, {`\*\*`, `.+`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`},
	} {
		re = strings.ReplaceAll(re, r[0], r[1])
	}
	return regexp.MustCompile("^" + re + "$").MatchString
}
