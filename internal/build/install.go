package build

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/safefile"
)

// install copies the libraries into the Python packages and links the packages into the environment.
func install(o Options, root *os.Root, p *plan) (*Result, error) {
	result := &Result{Library: p.libraries[0].output}
	for _, file := range installed(o.Project) { // handlers of an earlier build would call this one's backend
		if o.Sanitizer != nil || slices.ContainsFunc(p.libraries, func(l library) bool { return l.installed == file }) {
			continue
		}
		if err := safefile.Remove(root, file); err != nil {
			return nil, err
		}
	}
	for i, l := range slices.Backward(p.libraries) { // the backend, whose digest is looked at, comes last
		content, err := os.ReadFile(tree.Local(o.Project.Dir, l.output))
		if err != nil {
			return nil, fmt.Errorf("install %s: %w", l.name, err)
		}
		if _, err := safefile.Write(root, l.installed, content); err != nil {
			return nil, err
		}
		if i == 0 {
			result.SHA256 = tree.ContentDigest(content)
		}
	}
	if o.Sanitizer != nil {
		return result, o.Sanitizer.install(root, o.Project)
	}
	if !o.Unlinked {
		note, err := link(o)
		if err != nil {
			return nil, err
		}
		if note != "" {
			result.Notes = append(result.Notes, note)
		}
	}
	result.Import = importCommand(o)
	return result, nil
}

// backendLibrary is where the backend's library lies in its package.
func backendLibrary(p *opdef.Project) string {
	return p.BackendFolder() + "/lib/lib" + p.Manifest.Name + ".so"
}

// installed are the libraries that may be in the packages: the backend, and the handlers of frameworks.
func installed(p *opdef.Project) []string {
	files := []string{backendLibrary(p)}
	for _, fw := range framework.All() {
		if fw.Handlers.Template != "" {
			files = append(files, handlerLibrary(p, &fw))
		}
	}
	return files
}

// link makes the environment find the packages where they are, as `pip install --editable` would. The note is about another
// project of the same name whose packages it found there until now.
func link(o Options) (note string, err error) {
	folders := []string{tree.Local(o.Project.Dir, "backend/python/src")}
	for _, a := range o.Project.Manifest.Adaptors {
		folders = append(folders, tree.Local(o.Project.Dir, "adaptors/"+a+"/src"))
	}
	file := "_" + o.Project.Manifest.Name + "_editable.pth"
	err = safefile.In(o.Env.Site, func(site *os.Root) error {
		before, _ := site.ReadFile(file) // there may be none
		if first, _, _ := strings.Cut(string(before), "\n"); first != "" && first != folders[0] {
			note = fmt.Sprintf("%s found the packages of %s in %s until now, and finds this project's", o.Env.Python, o.Project.Manifest.Name, first)
		}
		_, err := safefile.Write(site, file, []byte(strings.Join(folders, "\n")+"\n"))
		return err
	})
	if err != nil {
		return "", &pyenv.MissingError{
			Text:    fmt.Sprintf("the packages cannot be linked into %s: %v", o.Env.Site, err),
			Command: "python3 -m venv .venv   (then pass --python .venv)",
		}
	}
	return note, nil
}

// importCommand imports the first adaptor whose framework is installed, or else the backend.
func importCommand(o Options) string {
	m := o.Project.Manifest
	module := m.Name + "_backend"
	if i := slices.IndexFunc(m.Adaptors, func(a string) bool { return o.Env.Packages[a] != "" }); i >= 0 {
		module = m.Name + "_" + m.Adaptors[i]
	}
	return shellWords(o.Env.Python, "-c", "import "+module)
}
