package tree

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Glob lists the files below dir that the pattern matches, as sorted slash paths. "**" matches any number of folders.
// Hidden files, and what is neither a file nor a link to one, do not count. Hidden folders, build, dist and the sources
// that a package carries are never searched unless the pattern names them.
func Glob(dir, pattern string) ([]string, error) {
	root := GlobRoot(pattern)
	matches, found := Matcher(pattern), []string(nil)
	err := fs.WalkDir(os.DirFS(dir), root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && skipped(p):
			return fs.SkipDir
		case !d.IsDir() && matches(p) && !strings.HasPrefix(d.Name(), ".") && IsRegular(Local(dir, p)):
			found = append(found, p)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("find %s: %w", pattern, err)
	}
	return found, nil
}

// GlobRoot is the folder that the pattern names before its first wildcard.
func GlobRoot(pattern string) string {
	root := "."
	for _, part := range strings.Split(path.Dir(pattern), "/") {
		if strings.ContainsAny(part, "*?") {
			break
		}
		root = path.Join(root, part)
	}
	return root
}

func skipped(folder string) bool {
	name := path.Base(folder)
	packed := func(name string) bool {
		ok, _ := path.Match("backend/python/src/*/"+name, folder) // only a wrong pattern is an error
		return ok
	}
	return strings.HasPrefix(name, ".") || name == "build" || name == "dist" || packed(PackedSources) || packed(PackedHeaders)
}

// IsRegular says whether there is such a file, or a link to one.
func IsRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// Matcher turns a glob into a test of slash paths.
func Matcher(pattern string) func(string) bool {
	re := regexp.QuoteMeta(path.Clean(pattern))
	for _, r := range [][2]string{
		{`\*\*/`, `(?:.+/)?`}, {`\*\*`, `.+`}, {`\*`, `[^/]*`}, {`\?`, `[^/]`},
	} {
		re = strings.ReplaceAll(re, r[0], r[1])
	}
	return regexp.MustCompile("^" + re + "$").MatchString
}

// Local is the path of a file of the project in the folder dir on this machine.
func Local(dir, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
