package worker

import (
	"embed"
	"fmt"
	"io/fs"
	"os"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/framework"
)

//go:embed *.py
var shared embed.FS

// folders hold the Python files of workers: those that all share, then those of each framework.
func folders() []fs.FS {
	list := []fs.FS{shared}
	for _, f := range framework.All() {
		if own, ok := f.Worker(); ok {
			list = append(list, own)
		}
	}
	return list
}

// WriteFiles puts the Python files into one folder, where they import each other by their names. No two may have the
// same name.
func WriteFiles(dir string) error {
	for _, files := range folders() {
		if err := os.CopyFS(dir, files); err != nil {
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
