package author

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/migrate"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/opcast/opcast/internal/system/safefile"
)

// definitions says whether files of --from are definitions of FlashInfer. Others are then sources in Python, which references use.
func (flags *initFlags) definitions() (bool, error) {
	others := slices.DeleteFunc(slices.Clone(flags.from), func(path string) bool { return strings.HasSuffix(path, flashinfer.Ending) })
	if len(others) == len(flags.from) {
		return false, nil
	}
	for _, path := range others {
		if !strings.HasSuffix(path, ".py") {
			return false, app.Usage("--from: definitions in JSON and sources in C++ cannot be mixed: pass %s in another call", path)
		}
	}
	if len(flags.tensors) > 0 || len(flags.aliases) > 0 || len(flags.only) > 0 {
		return false, app.Usage("--only, --tensor-type and --alias are for sources in C++, and --from names definitions in JSON")
	}
	return true, nil
}

// drafting is what the drafts of definitions share.
type drafting struct {
	newCollection
	kind int
	// ops are those that the project has, helpers the sources in Python.
	ops     []*opdef.Op
	helpers []string
	// files are those to write, by name.
	files map[string]string
}

// initDefinitions makes ops of definitions of FlashInfer. The files are copied: they hold the references.
func (a commands) initDefinitions(dir, name string, flags *initFlags) error {
	c := drafting{newCollection: newCollection{Name: name, Namespace: name + "_ops", Devices: flags.chosen}, files: map[string]string{}}
	existing, err := a.existing(dir, flags)
	if err != nil {
		return err
	}
	if existing != nil {
		c.Namespace, c.Devices, c.kind, c.ops = existing.Manifest.CPPNamespace(), existing.Manifest.Devices, existing.FreeKind(), existing.Ops
	}
	if c.Devices == nil {
		c.Devices = []string{"cpu"}
	}
	texts := map[string]string{}
	for _, path := range flags.from {
		if texts[path], err = readDefinition(path); err != nil {
			return app.Usage("--from: %w", err)
		}
		if !strings.HasSuffix(path, flashinfer.Ending) {
			c.helpers = append(c.helpers, texts[path])
		}
	}
	for _, path := range flags.from {
		if strings.HasSuffix(path, flashinfer.Ending) {
			if err := a.draftDefinition(path, texts[path], &c); err != nil {
				return err
			}
		}
	}
	switch {
	case len(c.files) == 0:
		return app.ExitError{Code: app.ExitFindings, Err: errors.New("nothing written: no op could be drafted")}
	case existing == nil:
		return a.layProject(dir, c.newCollection, c.files)
	}
	if err := a.place(dir, c.files); err != nil {
		return err
	}
	return a.generateIn(dir)
}

// existing is the project in a folder, nil if there is none.
func (a commands) existing(dir string, flags *initFlags) (*opdef.Project, error) {
	if _, err := os.Stat(filepath.Join(dir, manifest.File)); err != nil {
		return nil, nil
	}
	if flags.shaping != "" {
		return nil, app.Usage("--%s: %s exists already, and says so itself", flags.shaping, manifest.File)
	}
	return (&app.App{Dir: dir, Stderr: a.Stderr}).Load()
}

// draftDefinition adds the files of an op, or tells why there are none.
func (a commands) draftDefinition(path, text string, c *drafting) error {
	notes, err := c.add(text)
	if err != nil {
		notes = append(notes, err.Error())
	}
	for _, note := range notes {
		if _, err := fmt.Fprintf(a.Stderr, "%s: %s\n", path, note); err != nil {
			return err
		}
	}
	return nil
}

// add adds the files of an op. The notes say what was left out.
func (c *drafting) add(text string) (notes []string, err error) {
	d, err := flashinfer.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("not drafted: %w", err)
	}
	draft, err := flashinfer.DraftOf(d, c.kind)
	if err != nil {
		return nil, fmt.Errorf("not drafted: %w", err)
	}
	helpers, err := d.Helpers(c.helpers)
	if err != nil {
		return nil, fmt.Errorf("not drafted: %w", err)
	}
	if i := slices.IndexFunc(c.ops, func(op *opdef.Op) bool { return op.Name == draft.Name }); i >= 0 {
		return nil, fmt.Errorf("left alone: %s exists", c.ops[i].File)
	}
	file := "opdefs/" + draft.Name
	if _, twice := c.files[file+".toml"]; twice {
		return nil, fmt.Errorf("left alone: another file becomes %s, too", draft.Name)
	}
	formatted, err := tomlfmt.Format([]byte(draft.Definition))
	if err != nil {
		return nil, fmt.Errorf("draft %s: %w", draft.Name, err)
	}
	c.files[file+".toml"], c.files[file+flashinfer.Ending] = string(formatted), text
	if helpers != "" {
		c.files[file+".py"] = helpers
	}
	for _, device := range withKernels(c.Devices) {
		kernel := kernelFile(draft.Name, device)
		c.files[kernel] = migrate.Unwritten(draft.Name, kernelFunc(draft.Name, c.Devices, device == "cpu"), kernel, c.Namespace)
	}
	c.kind++
	return draft.Notes, nil
}

// readDefinition reads a file, which may lie anywhere.
func readDefinition(path string) (text string, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find file: %w", err)
	}
	err = safefile.In(filepath.Dir(abs), func(root *os.Root) error {
		text, err = readSource(root, filepath.Base(abs))
		return err
	})
	return text, err
}
