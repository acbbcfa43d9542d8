package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pair is a project of two ops for the CPU.
const pair = `
-- opcast.toml --
name = "pair"
version = "0.1.0"
license = "MIT"
adaptors = ["numpy"]
devices = ["cpu"]
sources = ["csrc/cpu/*.cc"]
[[files]]
match = "**/*.cc"
flags = ["-O0"]
-- opdefs/scale.toml --
doc = "Copy x."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[N]", doc = "The values of x." }]
reference = "return x * 1"
-- opdefs/copy.toml --
doc = "Copy x."
kind = 1
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "Any values." }]
outputs = [{ name = "y", type = "T[N]", doc = "The values of x." }]
reference = "return x"
-- csrc/factor.h --
#pragma once
constexpr float kFactor = 1.0f;
-- csrc/cpu/scale.cc --
#include "../factor.h"
#include "scale.gen.h"

opcast::Status pair_ops::Scale(const ScaleArgs& args, const opcast::Launch&) {
  const float* x = static_cast<const float*>(args.x);
  for (int64_t i = 0; i < args.N; ++i) static_cast<float*>(args.y)[i] = x[i] * kFactor;
  return opcast::Status::Ok();
}
-- csrc/cpu/copy.cc --
#include <cstring>

#include "copy.gen.h"

opcast::Status pair_ops::Copy(const CopyArgs& args, const opcast::Launch&) {
  std::memcpy(args.y, args.x, size_t(args.N) * 4);
  return opcast::Status::Ok();
}
`

// pairProject lays the project out.
func pairProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	unpack(t, dir, pair)
	return dir
}

// duplicate copies a folder, with the times of its files.
func duplicate(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	run(t, command(t, dir, "cp", "-a", ".", to))
	return to
}

// points are up to so many of the calls, evenly spread: first and middle ones of each row of equal calls, such as the writes of
// one file. They are counted from 1.
func points(calls []string, most int) (list []int) {
	var all []int
	for begin, end := 0, 0; begin < len(calls); begin = end {
		for end < len(calls) && calls[end] == calls[begin] {
			end++
		}
		all = append(all, begin+1)
		if end-begin > 2 {
			all = append(all, (begin+end)/2+1)
		}
	}
	for i := range min(len(all), most) {
		list = append(list, all[i*(len(all)-1)/max(min(len(all), most)-1, 1)])
	}
	return list
}

// tree is a digest of each file in a folder, of which the texts may name the folder. What ninja notes for itself, with times,
// and locks do not count.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".ninja_log", ".ninja_deps", ".lock"}, d.Name()) || strings.HasSuffix(d.Name(), ".lock") {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			files[name], err = os.Readlink(path)
			return err
		}
		content, err := os.ReadFile(path)
		content = bytes.ReplaceAll(content, []byte(dir), []byte("…"))
		files[name] = fmt.Sprintf("%d bytes %x", len(content), sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// differences names the files in which two folders differ.
func differences(got, want map[string]string) string {
	all := maps.Clone(want)
	maps.Copy(all, got)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch g, w := got[name], want[name]; {
		case g == "":
			lines = append(lines, name+" lacks")
		case w == "":
			lines = append(lines, name+" is left over")
		case g != w:
			lines = append(lines, fmt.Sprintf("%s has %.500s, want %.500s", name, g, w))
		}
	}
	if n := len(lines); n > 8 {
		lines = append(lines[:8], fmt.Sprintf("and %d more", n-8))
	}
	return strings.Join(lines, "; ")
}
