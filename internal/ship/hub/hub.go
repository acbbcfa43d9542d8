// Package hub makes a kernel of the Hugging Face Hub of a collection: a folder for each variant that the loader of the package
// kernels can choose, and what lies beside them in the kernel's repository.
//
// The bytes follow from the sources and the compilers. No time and no folder enters.
package hub

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/ship/wheel"
	"github.com/opcast/opcast/internal/system/git"
)

// File is a file of a kernel. Its name has slashes.
type File struct {
	Name    string
	Content []byte
}

// Kernel is a kernel: what its variants share.
type Kernel struct {
	Project *opdef.Project
	// Name is the collection's with hyphens, Version the first number of its version.
	Name    string
	Version int
	// Source says which sources it is made of.
	Source git.Source
	// TVMFFI is the version of tvm-ffi that it is made with, Tool the name and version of what makes it.
	TVMFFI, Tool string
}

// namePattern are the names that kernels can have.
var namePattern = regexp.MustCompile(`^[a-z][-a-z0-9]*[a-z0-9]$`)

// New makes the kernel of a project, or says why it can be none.
func New(p *opdef.Project, source git.Source, tvmFFI, tool string) (*Kernel, error) {
	m := &p.Manifest
	k := &Kernel{Project: p, Name: strings.ReplaceAll(m.Name, "_", "-"), Source: source, TVMFFI: tvmFFI, Tool: tool}
	if !namePattern.MatchString(k.Name) {
		return nil, fmt.Errorf("%s cannot be the name of a kernel, which has two characters or more", k.Name)
	}
	first, _, _ := strings.Cut(m.Version, ".")
	var err error
	if k.Version, err = strconv.Atoi(first); err != nil {
		return nil, fmt.Errorf("version %q of opcast.toml: %w", m.Version, err)
	}
	return k, nil
}

// Build is what a build gives for one kind of machine.
type Build struct {
	// CUDA is the version of the toolkit, empty for the CPU, and Code what the library holds for GPUs.
	CUDA string
	Code []string
	// Packages have files with the names that they have in a wheel.
	Packages []*wheel.Distribution
}

// kind is the name of the kind of machine in metadata, word that in the names of variants.
func (b Build) kind() string {
	if b.CUDA == "" {
		return "cpu"
	}
	return "cuda"
}

func (b Build) word() string {
	if b.CUDA == "" {
		return "cpu"
	}
	return "cu" + twoNumbers(b.CUDA)
}

// twoNumbers are the first two numbers of a version as the names of variants have them: 13.2.1 is 132.
func twoNumbers(version string) string {
	parts := append(strings.Split(version, "."), "0")
	return parts[0] + parts[1]
}

// Variant is a folder of a kernel.
type Variant struct {
	Name, ID string
	Files    []File
}

// Variants are those of a build. All have the same files: they differ in what the loader must find in the environment to choose
// them.
func (k *Kernel) Variants(b Build) ([]Variant, error) {
	files, machine, err := packed(b.Packages)
	if err != nil {
		return nil, err
	}
	id := k.id(b, files)
	generated, err := gen.HubVariant(k.Project, id)
	if err != nil {
		return nil, err
	}
	for _, f := range generated {
		files[f.Path] = f.Content
	}
	for name, content := range files {
		if files[name], err = renamed(name, content, id); err != nil {
			return nil, err
		}
	}
	sorted := inOrder(files)
	metadata, err := k.metadata(id, b, sorted)
	if err != nil {
		return nil, err
	}
	sorted = append(sorted, File{Name: metadataFile, Content: metadata})
	var out []Variant
	for _, name := range k.frameworks() {
		out = append(out, Variant{Name: name + "-" + b.word() + "-" + machine + "-linux", ID: id, Files: sorted})
	}
	return out, nil
}

// frameworks are the beginnings of the names of variants.
func (k *Kernel) frameworks() []string {
	out := []string{"tvm-ffi" + twoNumbers(k.TVMFFI)}
	for _, name := range k.Project.Manifest.Adaptors {
		if fw, _ := framework.ByName(name); fw.Hub.Variant != "" {
			out = append(out, fw.Hub.Variant)
		}
	}
	return out
}

// id is the name of a kernel in a process: the loader's name for the module, and the namespace of the ops.
func (k *Kernel) id(b Build, files map[string][]byte) string {
	id := fmt.Sprintf("_%s_%s_%s", k.Project.Manifest.Name, b.kind(), short(k.Source, files))
	if k.Source.Dirty {
		id += "_dirty"
	}
	return id
}

// Beside are the files beside the folder of the variants.
func (k *Kernel) Beside(variants []Variant) (out []File, err error) {
	r := gen.Repository{Name: k.Name, Version: k.Version}
	for _, v := range variants {
		r.Variants = append(r.Variants, v.Name)
	}
	files, err := gen.HubRepository(k.Project, r)
	for _, f := range files {
		out = append(out, File{Name: f.Path, Content: f.Content})
	}
	return out, err
}

// packed takes from packages what a kernel needs of them: modules, libraries and licenses. Type checkers cannot look into it.
func packed(packages []*wheel.Distribution) (files map[string][]byte, machine string, err error) {
	files = map[string][]byte{}
	for _, d := range packages {
		for _, f := range d.Files {
			if ending := path.Ext(f.Name); ending == ".py" || ending == ".so" {
				files[f.Name] = f.Content
			}
		}
		for _, f := range d.Licenses {
			files["licenses/"+f.Name] = f.Content
		}
		if d.Machine() != "" {
			machine = d.Machine()
		}
	}
	if machine == "" {
		return nil, "", errors.New("the packages have no library")
	}
	return files, machine, nil
}

// inOrder sorts files by their names.
func inOrder(files map[string][]byte) (out []File) {
	for name, content := range files {
		out = append(out, File{Name: name, Content: content})
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
