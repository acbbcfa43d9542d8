package wheel

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// Source is a source distribution: the archive from which pip makes the wheel of a package that has no library, and builds one
// when it is imported.
type Source struct {
	Name    string
	Content []byte
}

// Sources are the source distributions of a collection. Packed are the files with which the backend builds libraries, by their
// paths in its package.
func (c *Collection) Sources(packed map[string][]byte) (all []Source, err error) {
	folders := []string{"backend/python"}
	for _, name := range c.Project.Manifest.Adaptors {
		folders = append(folders, "adaptors/"+name)
	}
	for i, folder := range folders {
		if i > 0 {
			packed = nil
		}
		source, err := c.source(folder, packed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		all = append(all, source)
	}
	return all, nil
}

// source is the archive of one package.
func (c *Collection) source(folder string, packed map[string][]byte) (s Source, err error) {
	d, err := c.read(folder)
	if err != nil {
		return s, err
	}
	project, err := fs.ReadFile(c.Files, path.Join(folder, "pyproject.toml"))
	if err != nil {
		return s, err
	}
	for i := range d.Licenses { // setuptools takes those of this folder only
		if license := &d.Licenses[i]; path.Dir(license.Name) != "." {
			license.Name = path.Base(license.Name) + "." + path.Dir(license.Name)
		}
	}
	files := slices.Concat([]File{{Name: "pyproject.toml", Content: project}, {Name: "PKG-INFO", Content: d.metadata()}}, d.Licenses)
	if d.Readme != "" {
		files = append(files, File{Name: "README.md", Content: []byte(d.Readme)})
	}
	for _, f := range d.Files {
		if path.Ext(f.Name) != ".so" {
			files = append(files, File{Name: "src/" + f.Name, Content: f.Content})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packed)) {
		files = append(files, File{Name: path.Join("src", c.Project.Manifest.Name+"_backend", name), Content: packed[name]})
	}
	content, err := tarball(d.stem(), files)
	return Source{Name: d.stem() + ".tar.gz", Content: content}, err
}

// tarball is a compressed archive of files in a folder. Like a wheel, it has no time and no owner.
func tarball(folder string, files []File) ([]byte, error) {
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := tar.Header{Name: path.Join(folder, f.Name), Mode: 0o644, Size: int64(len(f.Content)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := compressed.Close()
	return out.Bytes(), err
}
