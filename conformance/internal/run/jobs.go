package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// job is a part of a run in a process of its own, as its file says. It tells the process that started it what comes of it.
type job struct {
	// Specs are those to run, Cases the folder for failing cases.
	Specs []pattern
	Cases string
	out   *json.Encoder
}

// jobMessage is a line that a job writes: results of one spec, a line for people, or the spec that begins.
type jobMessage struct {
	Results []report.Result `json:"results,omitempty"`
	Line    string          `json:"line,omitempty"`
	Spec    string          `json:"spec,omitempty"`
}

func (j *job) send(e jobMessage) { _ = j.out.Encode(e) } // without a reader the job is killed

// Write passes lines for people on.
func (j *job) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		j.send(jobMessage{Line: strings.TrimSuffix(line, "\n")})
	}
	return len(text), nil
}

// readJob reads the file that the options name; nil where they name none.
func readJob(o Options) (*job, error) {
	if o.Job == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.Job)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	j := &job{out: json.NewEncoder(o.Out)}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	return j, nil
}

// runJobs runs the suite in several processes and joins their reports.
func runJobs(ctx context.Context, p *Plan, out *publisher) (report.Summary, error) {
	o := out.options
	err := prepareLibrary(ctx, o, p.foreign)
	if err != nil {
		return report.Summary{}, err
	}
	folderOfCases, err := reproducerFolder(o, nil)
	if err != nil {
		return report.Summary{}, err
	}
	out.begin()
	temp, err := tempdir.Make("", "opcast-jobs")
	if err != nil {
		return report.Summary{}, fmt.Errorf("folder of jobs: %w", err)
	}
	defer func() { _ = temp.Remove() }() // else the next run does
	parts := balance(split(p.Cells, o.Jobs), o.Jobs, weights(o.ReportDir))
	errs := make([]error, len(parts))
	var wait sync.WaitGroup
	for i, part := range parts {
		dir := filepath.Join(temp.Path, strconv.Itoa(i))
		wait.Go(func() { errs[i] = out.runJob(ctx, dir, job{Specs: patternsOf(part), Cases: folderOfCases}) })
	}
	wait.Wait()
	broken := distinct(errs)
	r, err := mergeReports(temp.Path, len(parts))
	if err == nil && r == nil && ctx.Err() != nil {
		r, err = describe(o, p.foreign) // no job had come so far
	}
	if err != nil || r == nil {
		return report.Summary{}, errors.Join(broken, err)
	}
	out.fillHoles(ctx)
	summary, err := out.publish(r, nil)
	return summary, errors.Join(broken, err, out.ending())
}

// distinct joins errors, each text once: what stops one job often stops all.
func distinct(errs []error) error {
	var out []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(out, func(other error) bool { return other.Error() == err.Error() }) {
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

// runJob runs one process until its end.
func (p *publisher) runJob(ctx context.Context, dir string, j job) error {
	text, err := json.Marshal(j)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	file := filepath.Join(dir, "job.json")
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("job: %w", err)
	}
	err = p.follow(ctx, append(slices.Clone(p.options.Command), "--job", file, "--report", dir), dir, stallTimeout)
	if ctx.Err() != nil {
		return nil // it was told to end
	}
	return err
}

// readMessages reads what a job tells. Results are shown by cell: those of several jobs come in turns.
func (p *publisher) readMessages(out io.Reader) error {
	var cell []report.Result
	defer func() { p.record(cell) }()
	for d := json.NewDecoder(out); ; {
		var e jobMessage
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what it tells: %w", err)
		}
		if e.Line != "" {
			p.showOnce(e.Line)
		}
		if e.Spec != "" {
			p.printer.Running(e.Spec)
		}
		if len(e.Results) == 0 {
			continue
		}
		p.printer.Finished(e.Results)
		if first := e.Results[0]; len(cell) > 0 && (cell[0].Op != first.Op || cell[0].Adaptor != first.Adaptor) {
			p.record(cell)
			cell = nil
		}
		cell = append(cell, e.Results...)
	}
}

// showOnce shows a line that several jobs may tell, once.
func (p *publisher) showOnce(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.notes, line) {
		p.notes = append(p.notes, line)
		p.printer.Line("%s", line)
	}
}

// mergeReports reads the reports of all jobs as one. One that died has none, and leaves holes; without any report
// there is none.
func mergeReports(folder string, count int) (*report.Report, error) {
	var parts []*report.Report
	for i := range count {
		r, err := report.Read(filepath.Join(folder, strconv.Itoa(i), report.File))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, r)
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return report.Merge(parts...)
}

// weights are the seconds that each op took through each caller in the last run; nil where there was none.
func weights(dir string) map[[2]string]float64 {
	r, err := report.Read(filepath.Join(dir, report.File))
	if err != nil {
		return nil
	}
	out := map[[2]string]float64{}
	for _, result := range r.Results {
		out[[2]string{result.Op, result.Adaptor}] += result.Seconds
	}
	return out
}
