// Package gen turns a validated project into source text: the C++ of the backend, the Python of the adaptors, the
// pages of the docs. Each language has a package of its own below internal: cpp, python and docs; what they share is in view.
//
// Generate is pure: it reads nothing but the model and its embedded templates and returns files in memory, so that
// writing, comparing and testing share one path. Output depends on the definitions only: no date, no version, no path.
package gen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opcast/opcast/adaptors"
	"github.com/opcast/opcast/gen/internal/cpp"
	"github.com/opcast/opcast/gen/internal/docs"
	"github.com/opcast/opcast/gen/internal/hub"
	"github.com/opcast/opcast/gen/internal/python"
	"github.com/opcast/opcast/gen/internal/templates"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// File is one generated file.
type File = view.File

// Marker stands in the first lines of every generated file.
const Marker = view.Marker

// Repository says what the repository of a kernel of the Hugging Face Hub holds.
type Repository = hub.Repository

// Generate renders every file of the project, sorted by path.
func Generate(p *opdef.Project) ([]File, error) {
	drafts, err := emit(view.Prepare(p))
	if err != nil {
		return nil, err
	}
	files, err := view.Render(drafts, templates.FS, adaptors.FS)
	if err != nil {
		return nil, err
	}
	copies, err := runtimeFiles(&p.Manifest)
	if err != nil {
		return nil, err
	}
	files = append(files, copies...)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i := 1; i < len(files); i++ {
		if files[i].Path == files[i-1].Path {
			return nil, fmt.Errorf("generate: two emitters wrote %s", files[i].Path)
		}
	}
	return files, nil
}

// HubVariant renders what a variant of a kernel of the Hugging Face Hub has beside the packages of the collection, and instead of
// some of their modules. Paths are relative to its folder; the identifier is also the namespace of the ops.
func HubVariant(p *opdef.Project, id string) ([]File, error) {
	return view.Render(hub.Variant(view.Prepare(p), id), templates.FS, adaptors.FS)
}

// HubRepository renders what lies beside the variants.
func HubRepository(p *opdef.Project, r Repository) ([]File, error) {
	drafts, err := hub.Beside(view.Prepare(p), r)
	if err != nil {
		return nil, err
	}
	return view.Render(drafts, templates.FS, adaptors.FS)
}

// Signature is how an op is called and what it returns: "gelu(x, *, approximate) -> y".
func Signature(op *opdef.Op) string { return python.Signature(op) }

// emit asks every emitter for its files.
func emit(c *view.Collection) ([]view.Draft, error) {
	pages, err := docs.Emit(c)
	if err != nil {
		return nil, err
	}
	drafts := slices.Concat(cpp.Emit(c), pages, python.Backend(c))
	for _, name := range c.Project.Manifest.Adaptors {
		fw, ok := framework.ByName(name)
		if !ok {
			return nil, fmt.Errorf("generate: no framework is named %q", name)
		}
		adaptor, err := python.Adaptor(c, fw)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, adaptor...)
		if fw.Handlers.Template != "" {
			drafts = append(drafts, cpp.Handlers(c, fw))
		}
	}
	return drafts, nil
}

// Notes are what is no mistake, but has consequences that its author may not expect.
func Notes(p *opdef.Project) (list diag.List) {
	for _, name := range p.Manifest.Adaptors {
		if fw, ok := framework.ByName(name); ok && fw.Narrow != "" {
			list = append(list, opdef.WideNotes(p, fw.Title+" without "+fw.Narrow)...)
		}
	}
	return slices.Concat(list, opdef.LSENotes(p), opdef.RangeNotes(p), opdef.TunedNotes(p))
}
