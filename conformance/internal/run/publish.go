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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/progress"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// record keeps the results of a spec and shows them.
func (s *Session) record(results []report.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = append(s.results, results...)
	if s.job != nil {
		s.job.send(jobMessage{Results: results})
		return
	}
	s.Printer.Results(results)
}

// report is the run so far.
func (s *Session) report() (*report.Report, error) {
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: check.Version, Collection: s.Options.Project.Manifest.Name,
		Device: s.Env.Device, Adaptors: map[string]string{}, Results: s.results,
		Environment: machine(s.Env.Device), Started: s.started.UTC().Format(time.RFC3339Nano), Seconds: time.Since(s.started).Seconds(),
		Timings: s.timings, Checks: s.catalogue(), Random: s.Env.RandomTallies.List,
	}
	if s.Env.Errors != nil {
		r.ULPs = s.Env.Errors.Results()
	}
	var err error
	if r.OpdefsDigest, err = definitionsDigest(s.Options.Project); err != nil {
		return nil, err
	}
	if path := s.library(); path != "" {
		if r.LibrarySHA256, err = fileDigest(path); err != nil {
			return nil, err
		}
	}
	if s.Options.Driver != "" { // no GPU of the machine has a part in it
		r.Device, r.Environment = report.EmulatedDevice(cases.KindOf(s.Env.Device)), machine("cpu")
	}
	for _, process := range s.Processes {
		r.Adaptors[process.CallerName] = process.Version
		if process.Hardware != "" && s.Options.Driver == "" {
			r.Device = fmt.Sprintf("%s (%s)", s.Env.Device, process.Hardware)
			r.Environment["gpu"] = cmp.Or(r.Environment["gpu"], process.Hardware)
		}
		if process.Python != "" {
			r.Environment["python"] = process.Python
		}
	}
	return r, nil
}

// catalogue describes the checks of the run, in the order of the suite.
func (s *Session) catalogue() []report.Check {
	var ran []check.Check
	for _, c := range s.cells {
		ran = append(ran, c.checks...)
	}
	wanted := map[string]bool{}
	for i := range ran {
		wanted[ran[i].ID] = true
	}
	var out []report.Check
	// What is in no list, such as comparisons with existing kernels, comes last.
	for _, c := range slices.Concat(Checks(), ran) {
		if wanted[c.ID] {
			delete(wanted, c.ID)
			out = append(out, report.Check{ID: c.ID, Group: c.Group, Profile: cmp.Or(c.Profile, check.ProfileCore), Doc: c.Doc})
		}
	}
	return out
}

// publish writes the report and the closing summary. A job only leaves its report for the process that joins them.
func (s *Session) publish() (report.Summary, error) {
	r, err := s.report()
	if err != nil {
		return report.Summary{}, err
	}
	return s.write(r)
}

func (s *Session) write(r *report.Report) (report.Summary, error) {
	r.Sort()
	if r.Interrupted = s.interrupted; r.Interrupted != nil {
		s.pend(r)
	}
	var unwritten error // which is no reason to keep quiet about what was found
	if s.Options.ReportDir != "" {
		if unwritten = r.WriteFiles(s.Options.ReportDir); unwritten == nil && s.job == nil {
			s.Printer.Line("report: %s", check.Relative(s.Options.Project.Dir, filepath.Join(s.Options.ReportDir, "index.html")))
		}
	}
	summary := r.Summary()
	if s.job == nil {
		if text := progress.RandomLine(r.Random); text != "" {
			s.Printer.Line("%s", text)
		}
		if s.Options.Profile == check.ProfileFast {
			s.Printer.Line("%s", untried(Checks()))
		}
		s.Printer.Closing(r)
	}
	if unwritten != nil {
		return summary, fmt.Errorf("%w: %w", ErrUnwritten, unwritten)
	}
	return summary, nil
}

// untried says what the fast profile leaves out.
func untried(checks []check.Check) string {
	tried, left := map[string]bool{}, 0
	for i := range checks {
		if checks[i].Profile == check.ProfileFast {
			tried[checks[i].Group] = true
		} else {
			left++
		}
	}
	var groups []string
	for i := range checks {
		if g := checks[i].Group; !tried[g] && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return fmt.Sprintf("the fast profile left out %d of %d checks, among them all of: %s", left, len(checks), strings.Join(groups, ", "))
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
