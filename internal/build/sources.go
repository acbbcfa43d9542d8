package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef/manifest"
)

// cppSuffixes are the source files that the C++ compiler takes.
var cppSuffixes = []string{".cc", ".cpp", ".cxx"}

// textSuffixes are the files that can change what a compiler makes.
var textSuffixes = []string{
	".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".def", ".h", ".hh", ".hip", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tpp",
}

// IsSource says whether a compiler reads files of that name: sources and headers that are not hidden. Editors keep locks
// and drafts beside a file under hidden names.
func IsSource(name string) bool {
	name = path.Base(name)
	return !strings.HasPrefix(name, ".") && slices.Contains(textSuffixes, path.Ext(name))
}

// cudaSuffix is the suffix of the files that nvcc and compilers for HIP take, hipSuffix of those that only the latter do.
const cudaSuffix, hipSuffix = ".cu", ".hip"

// kernelFiles are the sources of kernels, sorted: those of the C++ compiler, and those of the two suffixes of GPUs.
type kernelFiles struct{ cpp, cuda, hip []string }

// findSources lists the kernel files that the globs match. Headers among them are left to the compilers.
func findSources(dir string, globs []string) (found kernelFiles, err error) {
	for _, g := range globs {
		files, err := glob(dir, g)
		if err != nil {
			return found, err
		}
		for _, f := range files {
			switch suffix := path.Ext(f); {
			case slices.Contains(cppSuffixes, suffix):
				found.cpp = append(found.cpp, f)
			case suffix == cudaSuffix:
				found.cuda = append(found.cuda, f)
			case suffix == hipSuffix:
				found.hip = append(found.hip, f)
			}
		}
	}
	for _, list := range []*[]string{&found.cpp, &found.cuda, &found.hip} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return found, nil
}

// match finds sources for GPUs that no build would compile.
func (found kernelFiles) match(devices []string) error {
	rocm := slices.Contains(devices, "rocm")
	if len(found.cuda) > 0 && !rocm && !slices.Contains(devices, "cuda") {
		return fmt.Errorf(`%s is a CUDA source, but devices in opcast.toml do not name "cuda"`, found.cuda[0])
	}
	if len(found.hip) > 0 && !rocm {
		return fmt.Errorf(`%s is a source for AMD's GPUs, but devices in opcast.toml do not name "rocm"`, found.hip[0])
	}
	return nil
}

// folders are those that hold the project's sources and headers, which are all that a build reads beside the packages
// of the environment and the system.
func (in inputs) folders() []string {
	list := []string{in.runtime.root + "/opcast", "backend/gen"}
	for _, g := range in.project.Manifest.Sources {
		first, _, _ := strings.Cut(globRoot(g), "/") // sources of one folder may share the headers of another
		list = append(list, first)
	}
	for _, fw := range withHandlers(in.project) {
		list = append(list, handlerFolder(&fw))
	}
	list = slices.Concat(list, in.project.Manifest.Include, in.headerFolders())
	slices.Sort(list)
	return slices.Compact(list)
}

// files are what decides a library's bytes: the manifest, the sources and headers in the folders, and what is linked.
func (in inputs) files() ([]string, error) {
	files := append(in.linked(), manifest.File)
	if in.runtime.root == laidOut { // which need not be laid out yet
		names, err := fs.Glob(in.embedded, "opcast/*")
		if err != nil {
			return nil, fmt.Errorf("find the runtime: %w", err)
		}
		for _, name := range names {
			files = append(files, laidOut+"/"+name)
		}
	}
	for _, folder := range in.folders() {
		if folder == laidOut+"/opcast" {
			continue
		}
		found, err := glob(in.project.Dir, path.Join(folder, "**"))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(in.headerFolders(), folder) { // a header of others need not look like one
			found = slices.DeleteFunc(found, func(f string) bool { return !IsSource(f) })
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil // one folder may hold another
}

// sum is the digest of all files.
func (in inputs) sum() (string, error) {
	files, err := in.files()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, f := range files {
		text, err := in.source(f)
		if err != nil {
			return "", fmt.Errorf("read sources: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", f, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// source is the content of a file that decides a library's bytes.
func (in inputs) source(file string) ([]byte, error) {
	if name, ok := strings.CutPrefix(file, laidOut+"/"); ok && in.runtime.root == laidOut {
		return fs.ReadFile(in.embedded, name)
	}
	if file == manifest.File && in.project.ManifestText != nil {
		return in.project.ManifestText, nil // the file may say something else by now
	}
	return os.ReadFile(local(in.project.Dir, file))
}

// glob lists the files below dir that the pattern matches, as sorted slash paths. "**" matches any number of folders.
// Hidden files, and what is neither a file nor a link to one, do not count. Hidden folders, build, dist and the sources
// that a package carries are never searched unless the pattern names them.
func glob(dir, pattern string) ([]string, error) {
	root := globRoot(pattern)
	matches, found := matcher(pattern), []string(nil)
	err := fs.WalkDir(os.DirFS(dir), root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && skipped(p):
			return fs.SkipDir
		case !d.IsDir() && matches(p) && !strings.HasPrefix(d.Name(), ".") && isRegular(local(dir, p)):
			found = append(found, p)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("find %s: %w", pattern, err)
	}
	return found, nil
}

// globRoot is the folder that the pattern names before its first wildcard.
func globRoot(pattern string) string {
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
	return strings.HasPrefix(name, ".") || name == "build" || name == "dist" || packed(packedFolder) || packed(packedHeaders)
}

// isRegular says whether there is such a file, or a link to one.
func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
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
