package report

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
)

// The lines between which a page has the table of what ran where.
const (
	SupportBegin = "<!-- support: written by opcast report support -->"
	SupportEnd   = "<!-- support: end -->"
)

// ErrNoPlace means that a page lacks these lines.
var ErrNoPlace = errors.New("no place for the table")

// supportHead is the head of the table.
const supportHead = "| device | hardware | date | caller | version | ops | passed | failed | skipped |\n|---|---|---|---|---|---|---|---|---|\n"

// emulatedDevice begins what reports call devices in software.
const emulatedDevice = "emulated"

// EmulatedDevice is what reports call a device in software: by its kind, unless that is the first that there was.
func EmulatedDevice(kind string) string {
	if kind == "cuda" {
		return emulatedDevice
	}
	return emulatedDevice + "-" + kind
}

// Hardware is what the results of the report were computed on: the name of the GPU, or the processor.
func (r *Report) Hardware() string {
	if name := r.Environment["gpu"]; r.Device != "cpu" && name != "" {
		return name
	}
	if r.Device != "cpu" && !strings.HasPrefix(r.Device, emulatedDevice) {
		return "unknown"
	}
	return cmp.Or(r.Environment["processor"], "unknown")
}

// Support has a line of a table for each caller of the reports with results that passed or failed: device, hardware, date, caller,
// its version, and numbers of ops and results. Of runs that were interrupted there is none.
func Support(reports []*Report) [][]string {
	var rows [][]string
	for _, r := range reports {
		if r.Interrupted != nil {
			continue
		}
		date, _, _ := strings.Cut(r.Started, "T")
		by, names, ops := map[string]*Counts{}, []string(nil), map[[2]string]bool{}
		for i := range r.Results {
			name := r.Results[i].Adaptor
			if by[name] == nil {
				by[name] = &Counts{}
				names = append(names, name)
			}
			by[name].Add(&r.Results[i])
			ops[[2]string{name, r.Results[i].Op}] = true
		}
		slices.Sort(names)
		for _, name := range names {
			if c := by[name]; name != "definition" && c.Passed+c.Failed > 0 {
				row := []string{r.Device, r.Hardware(), date, name, cmp.Or(r.Adaptors[name], "–")}
				count := 0
				for key := range ops {
					if key[0] == name {
						count++
					}
				}
				for _, n := range []int{count, c.Passed, c.Failed, c.Skipped + c.Unsupported} {
					row = append(row, strconv.Itoa(n))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// SupportTable writes lines as a table in Markdown.
func SupportTable(rows [][]string) string {
	var b strings.Builder
	b.WriteString(supportHead)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = diag.Cell(text)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return b.String()
}

// WriteSupport puts lines into the table of a page. They take the place of those of the same device, hardware and caller; the
// others stay, such as those of machines that somebody else has.
func WriteSupport(path string, rows [][]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	before, rest, found := strings.Cut(string(text), SupportBegin+"\n")
	old, after, ended := strings.Cut(rest, SupportEnd)
	if !found || !ended {
		return fmt.Errorf("write table: %w: %s lacks the lines %s and %s", ErrNoPlace, path, SupportBegin, SupportEnd)
	}
	added := strings.Split(strings.TrimPrefix(SupportTable(rows), supportHead), "\n")
	lines := slices.DeleteFunc(strings.Split(strings.TrimPrefix(old, supportHead), "\n"), func(line string) bool {
		return line == "" || slices.ContainsFunc(added, func(other string) bool { return sameRun(line, other) })
	})
	for i, line := range added {
		later := added[i+1:]
		if line != "" && !slices.ContainsFunc(later, func(other string) bool { return sameRun(line, other) }) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	table := supportHead + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(path, []byte(before+SupportBegin+"\n"+table+SupportEnd+after), 0o644); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// sameRun says whether two lines are about the same device, hardware and caller.
func sameRun(a, b string) bool {
	p, q := strings.Split(a, " | "), strings.Split(b, " | ")
	const date, caller = 2, 3
	return len(p) > caller && len(q) > caller && slices.Equal(p[:date], q[:date]) && p[caller] == q[caller]
}
