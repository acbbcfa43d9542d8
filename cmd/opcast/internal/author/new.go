package author

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/system/safefile"
)

//go:embed templates/op.toml.tmpl
var opTemplate string

//go:embed templates/kernel.cc.tmpl
var kernelTemplate string

//go:embed templates/kernel.cu.tmpl
var cudaKernelTemplate string

// newOp fills the templates of `opcast new`.
type newOp struct {
	// Name is the op's name, Func that of its types in C++, CPUFunc and GPUFunc those of its kernels.
	Name, Func, CPUFunc, GPUFunc string
	// Namespace is that of the project's kernels in C++.
	Namespace string
	Kind      int
}

func newNewCmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use:   "new OP",
		Short: "Begin an op: a definition and kernels that already work",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.newOp(args[0])
		},
	}
}

func (a commands) newOp(name string) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	if err := names.CheckOp(name); err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	if i := slices.IndexFunc(p.Ops, func(op *opdef.Op) bool { return names.Pascal(op.Name) == names.Pascal(name) }); i >= 0 {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("op %s exists in %s", p.Ops[i].Name, p.Ops[i].File)}
	}
	data := newOp{
		Name: name, Func: names.Pascal(name),
		CPUFunc: kernelFunc(name, p.Manifest.Devices, true), GPUFunc: kernelFunc(name, p.Manifest.Devices, false),
		Namespace: p.Manifest.CPPNamespace(), Kind: p.FreeKind(),
	}
	files := kernelFiles(name, p.Manifest.Devices, kernelTemplate, cudaKernelTemplate)
	var unused []string
	for kernel := range files {
		if !matches(p.Manifest.Sources, kernel) {
			unused = append(unused, kernel)
		}
	}
	files["opdefs/"+name+".toml"] = opTemplate
	if err := a.create(p.Dir, files, data); err != nil {
		return err
	}
	slices.Sort(unused)
	for _, kernel := range unused {
		if _, err := fmt.Fprintf(a.Stderr, "note: %s is in none of the sources in %s\n", kernel, manifest.File); err != nil {
			return err
		}
	}
	if p, err = a.Load(); err != nil {
		return err
	}
	_, err = a.Generate(p)
	return err
}

func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, _ := path.Match(path.Clean(glob), name)
		return ok
	})
}

// create writes the rendered files below dir and lists them. If one of them exists already, it writes nothing.
func (a commands) create(dir string, files map[string]string, data any) error {
	rendered := map[string]string{}
	for name, text := range files {
		content, err := render(name, text, data)
		if err != nil {
			return err
		}
		rendered[name] = content
	}
	return a.place(dir, rendered)
}

// render fills a template.
func render(name, text string, data any) (string, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"quoted": quoted}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("parse template: %w", err)
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}

// place writes files below dir, and none outside, and lists them. If one of them exists already, it writes nothing.
func (a commands) place(dir string, files map[string]string) error {
	paths := slices.Sorted(maps.Keys(files))
	var taken []string
	for _, name := range paths {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
			taken = append(taken, name)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for file: %w", err)
		}
	}
	if len(taken) > 0 {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("nothing written: %s exists already", strings.Join(taken, ", "))}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return safefile.In(dir, func(root *os.Root) error {
		for _, name := range paths {
			if _, err := safefile.Write(root, name, []byte(files[name])); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(a.Stdout, "wrote", name); err != nil {
				return err
			}
		}
		return nil
	})
}

// quoted are words as an array of TOML holds them.
func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }
