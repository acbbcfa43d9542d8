package build

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
	"github.com/opcast/opcast/internal/system/ninja"
)

// Headers are third-party headers as they lie on this machine.
type Headers struct {
	manifest.HeaderPackage
	// Folders are those to search. There is none where the compiler finds the headers by itself.
	Folders []string
	// Files are what a distribution has below the first folder, Licenses its licenses by their paths.
	Files, Licenses []string
}

// headerFinder is the part of the runtime that finds headers. A package that builds itself does it in the same way.
const headerFinder = "python/src/opcast_backend/_headers.py"

// FindHeaders looks for the third-party headers that the manifest names. Findings are those that this machine lacks. What it
// returns lies outside of the project.
func FindHeaders(ctx context.Context, p *opdef.Project, env *pyenv.Env, runtime fs.FS) (found []Headers, lacking diag.List, err error) {
	var ignored diag.List
	doc := tomldoc.Parse(manifest.File, p.ManifestText, &ignored)
	report := func(h manifest.HeaderPackage, text string) {
		where := tomldoc.Join(tomldoc.Join("headers", h.Name), h.Kind)
		lacking.Add(doc.At(where), code.NoHeaders, "", "headers of %s: %s", h.Name, text)
	}
	for _, h := range p.Manifest.HeaderPackages() {
		if info, err := os.Stat(tree.Local(p.Dir, h.Place)); h.Inside() && (err != nil || !info.IsDir()) {
			report(h, "the project has no folder "+h.Place)
		}
	}
	packages := elsewhere(p)
	if len(packages) == 0 {
		return nil, lacking, nil
	}
	answers, err := askHeaders(ctx, packages, env, runtime)
	if err != nil {
		return nil, nil, fmt.Errorf("find headers: %w", err)
	}
	for i, h := range packages {
		if answers[i].Error != "" {
			report(h, answers[i].Error)
		}
		found = append(found, Headers{h, answers[i].Folders, answers[i].Files, answers[i].Licenses})
	}
	return found, lacking, nil
}

// headerAnswer is what the finder says of one package.
type headerAnswer struct {
	Folders, Files, Licenses []string
	Error                    string
}

func askHeaders(ctx context.Context, packages []manifest.HeaderPackage, env *pyenv.Env, runtime fs.FS) (answers []headerAnswer, err error) {
	var questions [][3]string
	for _, h := range packages {
		questions = append(questions, [3]string{h.Kind, h.Place, h.Include})
	}
	text, err := json.Marshal(questions)
	if err != nil {
		return nil, err
	}
	program, err := fs.ReadFile(runtime, headerFinder)
	if err != nil {
		return nil, err
	}
	out, err := env.Run(ctx, string(program), string(text))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(packages) {
		return nil, fmt.Errorf("%s answered %q", env.Python, out)
	}
	return answers, nil
}

// elsewhere are the header packages that do not lie in the project.
func elsewhere(p *opdef.Project) []manifest.HeaderPackage {
	return slices.DeleteFunc(p.Manifest.HeaderPackages(), manifest.HeaderPackage.Inside)
}

// headerFolders are the folders of the project that hold third-party headers.
func (in inputs) headerFolders() (folders []string) {
	for _, h := range in.project.Manifest.HeaderPackages() {
		if h.Inside() {
			folders = append(folders, h.Place)
		}
	}
	return folders
}

// variable is the name that stands for a folder wherever it lies.
func (h Headers) variable(folder int) string {
	if folder == 0 {
		return "$header_" + h.Name
	}
	return fmt.Sprintf("$header_%s_%d", h.Name, folder)
}

// headerWords are the compiler's options for headers from elsewhere: warnings about them are not of interest, and where they
// lie is kept out of the bytes.
func (in inputs) headerWords(nvcc bool) (words []string) {
	for _, h := range in.headers {
		for i, folder := range h.Folders {
			words = append(words, "-isystem", folder)
			if nvcc {
				words = append(words, "-Xcompiler")
			}
			words = append(words, "-ffile-prefix-map="+folder+"="+strings.TrimPrefix(h.variable(i), "$header_"))
		}
	}
	return words
}

// systemWords are the compiler's options for headers in the project.
func (in inputs) systemWords() (words []string) {
	for _, folder := range in.headerFolders() {
		words = append(words, "-isystem", folder)
	}
	return words
}

// headerVars are the variables of a build file from which a package that builds itself knows what to look for. Files count as
// headers in the folders of whole whatever their names are.
func (in inputs) headerVars() (vars []ninja.Var) {
	var names []string
	for _, h := range elsewhere(in.project) {
		names = append(names, h.Name)
		vars = append(vars, ninja.Var{Name: "header_" + h.Name, Value: ninja.Escape(shellWords(h.Kind, h.Place, h.Include))})
	}
	if len(names) > 0 {
		vars = append(vars, ninja.Var{Name: "header_names", Value: shellWords(names...)})
	}
	if whole := in.headerFolders(); len(whole) > 0 {
		vars = append(vars, ninja.Var{Name: "whole", Value: ninja.Escape(shellWords(whole...))})
	}
	return vars
}

// withoutPlace is the same headers on nobody's machine.
func withoutPlace(all []Headers) (out []Headers) {
	for _, h := range all {
		folders := make([]string, len(h.Folders))
		for i := range folders {
			folders[i] = h.variable(i)
		}
		out = append(out, Headers{HeaderPackage: h.HeaderPackage, Folders: folders})
	}
	return out
}

// carriedHeaders are what a package carries of third-party headers: those of distributions, with their licenses.
func carriedHeaders(headers []Headers) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, h := range headers {
		if h.Kind != "pip" {
			continue
		}
		for _, name := range h.Files {
			text, err := os.ReadFile(tree.Local(h.Folders[0], name))
			if err != nil {
				return nil, err
			}
			files[path.Join(h.Name, path.Clean(name))] = text
		}
		for i, license := range h.Licenses {
			text, err := os.ReadFile(license)
			if err != nil {
				return nil, err
			}
			files[path.Join(h.Name, "licenses", fmt.Sprint(i, "-", path.Base(license)))] = text
		}
	}
	return files, nil
}
