package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Budget is a promise about figures.
type Budget struct {
	// Text says what is promised, without the limit.
	Text string `toml:"text"`
	// Figures are names, in which * stands for any text; Except are those that are not meant.
	Figures []string `toml:"figures"`
	Except  []string `toml:"except"`
	// Exactly one of the limits is there.
	AtMost  *float64 `toml:"at_most"`
	AtLeast *float64 `toml:"at_least"`
	// Take says what of several figures counts: each of them, or their geometric mean.
	Take string `toml:"take"`
	// Absent says why the figures may not be there.
	Absent string `toml:"absent"`
}

// What of several figures counts.
const (
	each = "each"
	mean = "mean"
)

// ErrBudgets means that a file of budgets has a mistake.
var ErrBudgets = errors.New("no budgets")

// ReadBudgets reads the budgets of a file.
func ReadBudgets(path string) ([]Budget, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBudgets, err)
	}
	var file struct {
		Budget []Budget `toml:"budget"`
	}
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		unknown := (*toml.StrictMissingError)(nil)
		if errors.As(err, &unknown) {
			return nil, fmt.Errorf("%s: %w: unknown key\n%s", path, ErrBudgets, unknown.String())
		}
		return nil, fmt.Errorf("%s: %w: %w", path, ErrBudgets, err)
	}
	if len(file.Budget) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no [[budget]]", path, ErrBudgets)
	}
	for i := range file.Budget {
		if err := file.Budget[i].complete(); err != nil {
			return nil, fmt.Errorf("%s: budget %d: %w: %w", path, i+1, ErrBudgets, err)
		}
	}
	return file.Budget, nil
}

// complete says what a budget lacks, and fills in what need not be said.
func (b *Budget) complete() error {
	limit := b.AtMost
	if limit == nil {
		limit = b.AtLeast
	}
	if b.Take == "" {
		b.Take = each
	}
	switch {
	case b.Text == "":
		return errors.New("text: expected what is promised")
	case len(b.Figures) == 0:
		return errors.New("figures: expected names of figures")
	case (b.AtMost == nil) == (b.AtLeast == nil):
		return errors.New("expected one of at_most and at_least")
	case !(*limit > 0):
		return errors.New("expected a limit above 0")
	case b.Take != each && b.Take != mean:
		return fmt.Errorf(`take: expected "each" or "mean", got %q`, b.Take)
	}
	return nil
}

// meant says whether a budget is about a figure.
func (b *Budget) meant(name string) bool { return matches(b.Figures, name) && !matches(b.Except, name) }

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		parts := strings.Split(p, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		if found, err := regexp.MatchString("^"+strings.Join(parts, ".*")+"$", name); err == nil && found {
			return true
		}
	}
	return false
}

// Judgement is what has become of a budget.
type Judgement struct {
	Budget
	// Value is what counts, in its unit; nil where nothing was measured, which Reason explains.
	Value  *Spread
	Unit   string
	Reason string
	// Measured is how many figures it is about, and Missed how many of them do not hold. Worst is the name of the worst.
	Measured, Missed int
	Worst            string
}

// Judge holds the figures of a run against budgets.
func (r *Result) Judge(budgets []Budget) []Judgement {
	figures := r.AllFigures()
	var out []Judgement
	for _, b := range budgets {
		out = append(out, b.judge(figures))
	}
	return out
}

func (b *Budget) judge(figures []Figure) Judgement {
	j := Judgement{Budget: *b}
	var values []Spread
	for i := range figures {
		f := &figures[i]
		if !b.meant(f.Name) {
			continue
		}
		j.Unit = f.Unit
		if f.Value == nil {
			if j.Reason == "" {
				j.Reason = f.Missing
			}
			continue
		}
		values = append(values, *f.Value)
		if !b.holds(f.Value.Median) {
			j.Missed++
		}
		if j.Value == nil || b.worse(f.Value.Median, j.Value.Median) {
			j.Value, j.Worst = f.Value, f.Name
		}
	}
	j.Measured = len(values)
	if b.Take == mean && len(values) > 0 {
		j.Value, j.Worst = geometric(values), ""
	}
	if j.Value == nil && j.Reason == "" {
		j.Reason = b.Absent
	}
	return j
}

func geometric(values []Spread) *Spread {
	var low, median, high float64
	for _, v := range values {
		low, median, high = low+math.Log(v.Low), median+math.Log(v.Median), high+math.Log(v.High)
	}
	n := float64(len(values))
	return &Spread{math.Exp(low / n), math.Exp(median / n), math.Exp(high / n)}
}

// limit is the number that is promised.
func (b *Budget) limit() float64 {
	if b.AtMost != nil {
		return *b.AtMost
	}
	return *b.AtLeast
}

func (b *Budget) worse(v, than float64) bool {
	if b.AtMost != nil {
		return v > than
	}
	return v < than
}

func (b *Budget) holds(v float64) bool { return !b.worse(v, b.limit()) }

// Holds says whether what was promised was measured.
func (j *Judgement) Holds() bool { return j.Value != nil && j.holds(j.Value.Median) }

// percent writes a share; of small ones with a digit more.
func percent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.1f", share*100)
	}
	return fmt.Sprintf("%.0f", share*100)
}

// Verdict says that the budget holds, or by how much it misses. A question mark says that the limit lies between the quartiles.
func (j *Judgement) Verdict() string {
	if j.Value == nil {
		if j.Reason == "" {
			return "not measured"
		}
		return "not measured: " + j.Reason
	}
	text := "holds"
	if !j.Holds() {
		text = fmt.Sprintf("misses by %s %%", percent(math.Abs(j.Value.Median/j.limit()-1)))
	}
	if j.Value.Low < j.limit() && j.limit() < j.Value.High {
		text += "?"
	}
	if j.Take == each && j.Measured > 1 {
		text += fmt.Sprintf(", %d of %d hold", j.Measured-j.Missed, j.Measured)
	}
	if j.Missed > 0 && j.Take == each && j.Measured > 1 {
		text += ", the worst: " + j.Worst
	}
	return text
}
