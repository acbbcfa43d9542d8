// Package doctor looks at what a machine has for a collection of ops: what the tool needs, what more it could use, and which
// command brings what is missing. It builds nothing, and it imports no framework.
package doctor

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/system/cache"
	"github.com/opcast/opcast/internal/system/version"
)

// The states of a finding.
const (
	// Works: it is there.
	Works = "works"
	// Absent: it is not there, and something can do without it.
	Absent = "absent"
	// Lacks: nothing can be built or tested without it.
	Lacks = "lacks"
)

// Finding says of one thing whether the machine has it.
type Finding struct {
	// Subject is what it is about: "C++ compiler", "torch".
	Subject string `json:"subject"`
	State   string `json:"state"`
	// Text says what is there, or what is wrong; Remedy is what to do about it.
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Query says what to look at.
type Query struct {
	// Python and Dir are as for pyenv; Manifest is the project's, or what a new one has.
	Python, Dir string
	Manifest    manifest.Manifest
	Getenv      func(string) string
}

// Look finds out what the machine has, in the order in which a new user needs it.
func Look(ctx context.Context, q Query) []Finding {
	findings := []Finding{system(), cxx(ctx, q)}
	env, err := pyenv.Find(ctx, pyenv.Query{Python: q.Python, Dir: q.Dir, Getenv: q.Getenv})
	if err != nil {
		findings = append(findings, failed("Python", Lacks, err))
	} else {
		findings = append(findings, Finding{"Python", Works, env.Version + ", " + env.Python, ""})
		findings = append(findings, packages(env)...)
		findings = append(findings, frameworks(env, q.Manifest.Adaptors)...)
		findings = append(findings, cuda(ctx, q, env))
	}
	if slices.Contains(q.Manifest.Devices, "rocm") {
		findings = append(findings, hip(ctx, q))
	}
	findings = append(findings, gpus(ctx, q.Manifest.Devices, os.DirFS("/"))...)
	return append(findings, writable("build folder", filepath.Join(q.Dir, "build"), Lacks, "make it writable, or work in a copy"), cacheFolder(q))
}

// failed is a finding about an error, which knows its remedy if something is missing.
func failed(subject, state string, err error) Finding {
	var missing *pyenv.MissingError
	if errors.As(err, &missing) {
		return Finding{subject, state, missing.Text, missing.Command}
	}
	return Finding{subject, state, err.Error(), ""}
}

func system() Finding {
	text := runtime.GOOS + " on " + runtime.GOARCH
	if runtime.GOOS != "linux" {
		return Finding{"system", Lacks, text, "work on Linux, for example in a container"}
	}
	return Finding{"system", Works, text, ""}
}

func cxx(ctx context.Context, q Query) Finding {
	c, err := compiler.FindCXX(ctx, q.Getenv)
	if err != nil {
		return failed("C++ compiler", Lacks, err)
	}
	words := append(c.Words[1:len(c.Words):len(c.Words)], "--version")
	out, _ := exec.CommandContext(ctx, c.Words[0], words...).Output() // only its first line is wanted
	version, _, _ := strings.Cut(string(out), "\n")
	return Finding{"C++ compiler", Works, strings.Join(c.Words, " ") + ": " + version, ""}
}

// packages are those that every build and every test needs.
func packages(env *pyenv.Env) (out []Finding) {
	for _, name := range pyenv.Required() {
		version := env.Packages[name]
		if name == "ninja" && env.Ninja == "" {
			path, err := exec.LookPath("ninja")
			if version = ""; err == nil {
				version = path
			}
		}
		if version == "" {
			out = append(out, Finding{name, Lacks, "not installed", env.InstallCommand(name)})
			continue
		}
		f := Finding{name, Works, version, ""}
		if required, bounds := split(framework.TVMFFI); name == required && !inside(version, bounds) {
			f = Finding{name, Lacks, version + ", and packages need " + bounds, env.InstallCommand(name)}
		}
		out = append(out, f)
	}
	return out
}

// split takes a requirement apart: the distribution and the bounds of its versions.
func split(requirement string) (distribution, bounds string) {
	end := strings.IndexAny(requirement+">", "<>=!~")
	return requirement[:end], requirement[end:]
}

// inside says whether a version is within bounds. Installers know more kinds of versions than doctor, which says nothing of those.
func inside(have, bounds string) bool { return !version.Valid(have) || version.Satisfies(have, bounds) }

// frameworks are those of the project's adaptors.
func frameworks(env *pyenv.Env, adaptors []string) (out []Finding) {
	for _, name := range adaptors {
		fw, ok := framework.ByName(name)
		if !ok {
			continue
		}
		out = append(out, required(env, unlisted(env, fw), fw.Requires))
	}
	return out
}

// required adds to a finding what is there of the distributions that packages require, or which of them are absent or of another
// version.
func required(env *pyenv.Env, f Finding, requirements []string) Finding {
	var there, absent, others, remedy []string
	for _, requirement := range requirements {
		distribution, bounds := split(requirement)
		switch have := env.Packages[distribution]; {
		case have == "":
			absent, remedy = append(absent, distribution), append(remedy, distribution)
		case !inside(have, bounds):
			others, remedy = append(others, distribution+" "+have+", and it needs "+bounds), append(remedy, distribution)
		default:
			there = append(there, distribution+" "+have)
		}
	}
	switch {
	case len(remedy) == 0 && f.State == Works:
		f.Text = strings.TrimPrefix(f.Text+", "+strings.Join(there, ", "), ", ")
	case f.State != Works: // its own distribution is absent, without which the others help nobody
	default:
		if len(absent) > 0 {
			others = append(others, "no "+strings.Join(absent, " and no ")+": nothing can be tested in it")
		}
		f = Finding{f.Subject, Absent, strings.Join(others, "; "), env.InstallCommand(remedy...)}
	}
	return f
}

// unlisted is what is known before the distributions that a framework's packages require are looked for. One that has a note has
// its own distribution under several names, of which they require none.
func unlisted(env *pyenv.Env, fw framework.Framework) Finding {
	f := Finding{Subject: fw.Title, State: Works}
	if fw.Note == "" {
		return f
	}
	for _, name := range slices.Sorted(maps.Keys(env.Packages)) {
		if fw.Owns(name) {
			f.Text = name + " " + env.Packages[name]
			return f
		}
	}
	return Finding{fw.Title, Absent, "not installed: nothing can be tested in it", fw.Note}
}

func cuda(ctx context.Context, q Query, env *pyenv.Env) Finding {
	c, err := compiler.FindCUDA(ctx, env, q.Getenv, q.Manifest.CUDA.Toolkit)
	if err != nil {
		return failed("CUDA compiler", Absent, err)
	}
	return Finding{"CUDA compiler", Works, c.Name(), ""}
}

func hip(ctx context.Context, q Query) Finding {
	c, err := compiler.FindHIP(ctx, q.Getenv, &q.Manifest)
	if err != nil {
		return failed("HIP compiler", Absent, err)
	}
	return Finding{"HIP compiler", Works, c.Name(), ""}
}

// cacheFolder is where packages that build themselves put their libraries, and builds their objects.
func cacheFolder(q Query) Finding {
	dir := cache.Folder(q.Getenv)
	const remedy = "set OPCAST_CACHE_DIR to a folder of yours"
	if dir == "" {
		return Finding{"cache", Absent, "there is no home folder: packages cannot build themselves", remedy}
	}
	if err := cache.Private(dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return Finding{"cache", Absent, err.Error(), remedy}
	}
	return writable("cache", dir, Absent, remedy)
}

// writable asks whether a folder, or the nearest one above it that exists, can be written to.
func writable(subject, dir, state, remedy string) Finding {
	const write = 2 // of access(2)
	for near := dir; ; near = filepath.Dir(near) {
		info, err := os.Stat(near)
		if errors.Is(err, os.ErrNotExist) && near != filepath.Dir(near) {
			continue
		}
		switch {
		case err != nil:
			return Finding{subject, state, err.Error(), remedy}
		case !info.IsDir():
			return Finding{subject, state, near + " is no folder", remedy}
		case syscall.Access(near, write) != nil:
			return Finding{subject, state, near + " cannot be written to", remedy}
		}
		return Finding{subject, Works, dir, ""}
	}
}
