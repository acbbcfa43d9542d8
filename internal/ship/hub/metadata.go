package hub

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// metadataFile is what the loader reads first.
const metadataFile = "metadata.json"

// metadata is its content, in the order of its keys.
type metadata struct {
	ID            string      `json:"id"`
	Name          string      `json:"name"`
	Version       int         `json:"version"`
	License       string      `json:"license"`
	Backend       backend     `json:"backend"`
	PythonDepends []string    `json:"python-depends"`
	Digest        digest      `json:"digest"`
	Provenance    *provenance `json:"provenance,omitempty"`
}

type backend struct {
	Type  string   `json:"type"`
	Archs []string `json:"archs,omitempty"`
}

// digest has that of each file other than this one.
type digest struct {
	Algorithm string            `json:"algorithm"`
	Files     map[string]string `json:"files"`
}

// provenance says what made the kernel, and of which commit. The loader's name for the former is that of its own tool.
type provenance struct {
	Builder struct {
		Version string `json:"version"`
	} `json:"kernel-builder"`
	Kernel struct {
		Commit string `json:"commit"`
		Dirty  bool   `json:"dirty"`
	} `json:"kernel"`
}

// metadata describes a variant with these files.
func (k *Kernel) metadata(id string, b Build, files []File) ([]byte, error) {
	m := metadata{
		ID: id, Name: k.Name, Version: k.Version, License: k.Project.Manifest.License,
		Backend: backend{Type: b.kind(), Archs: archs(b.Code)},
		// The loader refuses names that it does not know, which those of the frameworks are.
		PythonDepends: []string{"tvm-ffi"},
		Digest:        digest{Algorithm: "sha256", Files: map[string]string{}},
	}
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		m.Digest.Files[f.Name] = base64.StdEncoding.EncodeToString(sum[:])
	}
	if k.Source.Commit != "" {
		m.Provenance = &provenance{}
		m.Provenance.Builder.Version = k.Tool
		m.Provenance.Kernel.Commit, m.Provenance.Kernel.Dirty = k.Source.Commit, k.Source.Dirty
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(m)
	return out.Bytes(), err
}

// archs writes the code of a library as the loader reads it, by which it refuses GPUs that the code does not fit: sm_90a is
// 9.0a, and compute_90, which newer GPUs can take, too, 9.0+PTX.
func archs(code []string) (out []string) {
	for _, c := range code {
		kind, number, _ := strings.Cut(c, "_")
		digits := strings.TrimRight(number, "af")
		if len(digits) < 2 {
			continue
		}
		arch := digits[:len(digits)-1] + "." + number[len(digits)-1:]
		if kind == "compute" {
			arch += "+PTX"
		}
		out = append(out, arch)
	}
	slices.Sort(out)
	return out
}
