package worker

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/framework"
)

//go:embed opcast_worker/*.py
var shared embed.FS

// folders hold the Python files of workers: those that all share, then those of each framework.
func folders() []fs.FS {
	own, err := fs.Sub(shared, Package)
	if err != nil {
		panic(err) // it is embedded
	}
	list := []fs.FS{own}
	for _, f := range framework.All() {
		if own, ok := f.Worker(); ok {
			list = append(list, own)
		}
	}
	return list
}

// Package is the Python package of the worker's files, the only name that they take from the modules of authors.
const Package = "opcast_worker"

// WriteFiles puts the Python files into a folder, as one package. No two may have the same name.
func WriteFiles(dir string) error {
	for _, files := range folders() {
		if err := os.CopyFS(filepath.Join(dir, Package), files); err != nil {
			return fmt.Errorf("worker files: %w", err)
		}
	}
	return nil
}

// DType is a dtype as DLPack knows it, and its name in Python.
type DType struct {
	Code int    `json:"code"`
	Bits int    `json:"bits"`
	Name string `json:"name"`
}

// DTypes are all dtypes, for the worker.
func DTypes() []DType {
	var out []DType
	for _, d := range dtype.Table {
		out = append(out, DType{d.Code, d.Bits, d.Long})
	}
	return out
}
