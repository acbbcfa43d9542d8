// Package load reads a project's op definitions: strict TOML in, one validated model out, or a list of mistakes with their
// places.
package load

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/collection"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Load reads the manifest and every definition of the project in dir. The project is usable only when the list of
// diagnostics is empty; the error concerns the file system.
func Load(dir string) (*opdef.Project, diag.List, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find project: %w", err)
	}
	t, err := projectfs.Open(abs, projectfs.DefinitionsDir)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	var diags diag.List
	p := &opdef.Project{Dir: abs}
	data, err := t.Read(manifest.File)
	if err != nil {
		return nil, nil, fmt.Errorf("read manifest: %w", err)
	}
	if doc := tomldoc.Parse(manifest.File, data, &diags); doc != nil {
		p.Manifest = manifest.Check(doc, t.Leaves, &diags)
	}
	p.ManifestText = data
	if t.Exists(opdef.MeasuredFile) {
		if p.Measured, err = t.ReadLarge(opdef.MeasuredFile); err != nil {
			p.NotMeasured = fmt.Errorf("read %s: %w", opdef.MeasuredFile, err) // which concerns pages only
		}
	}
	definitions(p, t, &diags)
	tuned(p, t, &diags)
	if len(diags) == 0 {
		for _, op := range p.Ops {
			needKernel(op, &diags)
		}
	}
	return p, diags.Sorted(), nil
}

// Folder reads a folder of definitions that belong to no project, such as those of a library that was made by hand. They
// may have kernels for every device.
func Folder(dir string) (*opdef.Project, diag.List, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find definitions: %w", err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder of definitions", dir)
	}
	root, folder := filepath.Split(abs)
	t, err := projectfs.Open(root, folder)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	name := folder
	if folder == projectfs.DefinitionsDir {
		name = filepath.Base(filepath.Clean(root))
	}
	p := &opdef.Project{Dir: filepath.Clean(root), Manifest: manifest.Manifest{Name: name, Devices: slices.Clone(manifest.Devices)}}
	var diags diag.List
	definitions(p, t, &diags)
	return p, diags.Sorted(), nil
}

// definitions reads those in a folder.
func definitions(p *opdef.Project, t *projectfs.Tree, diags *diag.List) {
	for _, file := range t.Definitions(diags) {
		if op := loadOp(t, file, p.Manifest.Devices, diags); op != nil {
			p.Ops = append(p.Ops, op)
		}
	}
	slices.SortStableFunc(p.Ops, func(a, b *opdef.Op) int { return strings.Compare(a.Name, b.Name) })
	collection.Check(p, diags)
}

// loadOp reads one definition; it is nil where the file cannot be read at all.
func loadOp(t *projectfs.Tree, file string, devices []string, diags *diag.List) *opdef.Op {
	name := strings.TrimSuffix(path.Base(file), ".toml")
	start := diag.Pos{File: file, Line: 1, Col: 1}
	if mistake := names.OpMistake(name); mistake != nil {
		diags.Add(start, mistake.Code, "rename the file: "+names.SnakeHint, "%s", mistake.Text)
	}
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if !names.IsFolder(folder) {
			diags.Add(start, code.Name, "letters, digits, -, _ and .", "%q is no name for a folder of definitions", folder)
		}
	}
	data, err := t.Read(file)
	if err != nil {
		diags.Add(start, code.File, "", "%s", err)
		return nil
	}
	doc := tomldoc.Parse(file, data, diags)
	if doc == nil {
		return nil
	}
	op := &opdef.Op{Name: name, File: file, Family: t.Family(file), Devices: devices, ReferenceFile: file}
	var beside neighbours
	beside.module = strings.TrimPrefix(string(neighbour(t, file, ".py", diags)), tomldoc.ByteOrderMark)
	if text := neighbour(t, file, flashinfer.Ending, diags); text != nil {
		if beside.formula, err = flashinfer.Parse(text); err != nil {
			beside.broken = true
			diags.Add(diag.Pos{File: beside.file(op, flashinfer.Ending), Line: 1, Col: 1}, code.File, "", "%s", err)
		}
	}
	checkOp(op, doc, beside, diags)
	return op
}

// neighbours are the files beside a definition.
type neighbours struct {
	// module is the text of the Python file; formula is a definition of FlashInfer, nil if there is none or it is broken.
	module  string
	formula *flashinfer.Definition
	broken  bool
}

// file is the name of a file beside the definition of an op.
func (neighbours) file(op *opdef.Op, ending string) string {
	return strings.TrimSuffix(op.File, ".toml") + ending
}

// neighbour reads a file beside a definition; it is nil where there is none.
func neighbour(t *projectfs.Tree, file, ending string, diags *diag.List) []byte {
	name := strings.TrimSuffix(file, ".toml") + ending
	if !t.Exists(name) {
		return nil
	}
	text, err := t.Read(name)
	if err != nil {
		diags.Add(diag.Pos{File: name, Line: 1, Col: 1}, code.File, "", "%s", err)
	}
	return text
}
