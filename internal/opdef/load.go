package opdef

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/diag"
)

// opdefsDir is the folder of the definitions.
const opdefsDir = "opdefs"

// Load reads the manifest and every definition of the project in dir. The project is usable only when the list of
// diagnostics is empty; the error concerns the file system.
func Load(dir string) (*Project, diag.List, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find project: %w", err)
	}
	t, err := openTree(abs)
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	var diags diag.List
	p := &Project{Dir: abs}
	data, err := t.read(ManifestFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read manifest: %w", err)
	}
	if doc := parseDocument(ManifestFile, data, &diags); doc != nil {
		p.Manifest = checkManifest(doc, t.leaves, &diags)
	}
	p.load(t, &diags)
	return p, diags.Sorted(), nil
}

// LoadFolder reads a folder of definitions that belong to no project, such as those of a library that was made by hand. They
// may have kernels for every device.
func LoadFolder(dir string) (*Project, diag.List, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("find definitions: %w", err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("%s is no folder of definitions", dir)
	}
	root, folder := filepath.Split(abs)
	t, err := openTree(root)
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	t.opdefs = folder
	name := folder
	if folder == opdefsDir {
		name = filepath.Base(filepath.Clean(root))
	}
	p := &Project{Dir: filepath.Clean(root), Manifest: Manifest{Name: name, Devices: slices.Clone(deviceNames)}}
	var diags diag.List
	p.load(t, &diags)
	return p, diags.Sorted(), nil
}

// load reads the definitions in a folder.
func (p *Project) load(t *tree, diags *diag.List) {
	for _, file := range t.definitions(diags) {
		if op := loadOp(t, file, p.Manifest.Devices, diags); op != nil {
			p.Ops = append(p.Ops, op)
		}
	}
	slices.SortStableFunc(p.Ops, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	checkProject(p, diags)
}

// loadOp reads one definition; it is nil where the file cannot be read at all.
func loadOp(t *tree, file string, devices []string, diags *diag.List) *Op {
	name := strings.TrimSuffix(path.Base(file), ".toml")
	start := diag.Pos{File: file, Line: 1, Col: 1}
	if fault := opNameFault(name); fault != nil {
		diags.Add(start, fault.Code, "rename the file: "+snakeHint, "%s", fault.Text)
	}
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if !isFolder(folder) {
			diags.Add(start, codeName, "letters, digits, -, _ and .", "%q is no name for a folder of definitions", folder)
		}
	}
	data, err := t.read(file)
	if err != nil {
		diags.Add(start, codeFile, "", "%s", err)
		return nil
	}
	doc := parseDocument(file, data, diags)
	if doc == nil {
		return nil
	}
	family := strings.TrimPrefix(strings.TrimPrefix(path.Dir(file), t.opdefs), "/")
	op := &Op{Name: name, File: file, Family: family, Devices: devices}
	module := ""
	if neighbour := strings.TrimSuffix(file, ".toml") + ".py"; t.exists(neighbour) {
		text, err := t.read(neighbour)
		if err != nil {
			diags.Add(diag.Pos{File: neighbour, Line: 1, Col: 1}, codeFile, "", "%s", err)
		}
		module = string(text)
	}
	checkOp(op, doc, module, diags)
	return op
}
