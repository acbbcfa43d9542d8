package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// describe is a report without results: what was tested, where, and what was measured.
func (p *Pool) describe(env *check.Environment) (*report.Report, error) {
	r, err := describe(p.options, p.foreign)
	if err != nil {
		return nil, err
	}
	r.Random, r.ULPs = env.RandomTallies.List, env.Errors.Results()
	for _, process := range p.Callers {
		r.Adaptors[process.CallerName] = process.Version
		if process.Hardware != "" && p.options.Driver == "" {
			r.Device = fmt.Sprintf("%s (%s)", env.Device, process.Hardware)
			r.Environment["gpu"] = cmp.Or(r.Environment["gpu"], process.Hardware)
		}
		if process.Python != "" {
			r.Environment["python"] = process.Python
		}
	}
	return r, nil
}

// describe says what is tested.
func describe(o Options, f *check.ForeignCode) (*report.Report, error) {
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: check.Version, Collection: o.Project.Manifest.Name,
		Device: o.device(), Adaptors: map[string]string{}, Environment: machine(o.device()),
	}
	var err error
	if r.OpdefsDigest, err = definitionsDigest(o.Project); err != nil {
		return nil, err
	}
	if path := library(o, f); path != "" {
		if r.LibrarySHA256, err = fileDigest(path); err != nil {
			return nil, err
		}
	}
	if o.Sanitizer != "" {
		r.Environment["sanitizer"] = o.Sanitizer
	}
	if o.Driver != "" { // no GPU of the machine has a part in it
		r.Device, r.Environment = report.EmulatedDevice(cases.KindOf(o.device())), machine("cpu")
	}
	return r, nil
}

// machine is what else results may depend on.
func machine(device string) map[string]string {
	out := map[string]string{"system": runtime.GOOS + "/" + runtime.GOARCH, "cores": strconv.Itoa(runtime.NumCPU())}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		out["opcast"] = info.Main.Version
	}
	if name := worker.Processor()["model name"]; name != "" {
		out["processor"] = name
	}
	if name := worker.GPU(cases.KindOf(device)); name != "" {
		out["gpu"] = name
	}
	return out
}

func fileDigest(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// definitionsDigest covers the text of every definition, in order of the names.
func definitionsDigest(p *opdef.Project) (string, error) {
	h := sha256.New()
	for _, op := range p.Ops {
		text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(op.File)))
		if err != nil {
			return "", fmt.Errorf("digest: %w", err)
		}
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", op.File, text, op.Module)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
