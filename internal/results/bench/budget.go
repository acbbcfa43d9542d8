package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/pelletier/go-toml/v2"
)

// Budget is a promise about figures.
type Budget struct {
	// Text says what is promised, without the limit.
	Text string `toml:"text"`
	// Figures are names, in which * stands for any text without a slash, and ** for any text; Except are those that are not meant.
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
var ErrBudgets = errors.New("a mistake in the budgets")

// ReadBudgets reads the budgets of a file.
func ReadBudgets(path string) ([]Budget, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBudgets, err)
	}
	var file struct {
		Budget []Budget `toml:"budget"`
	}
	if err := tomlfmt.ReadStrictly(data, &file); err != nil {
		unknown := (*toml.StrictMissingError)(nil)
		if errors.As(err, &unknown) {
			return nil, fmt.Errorf("%s: %w: unknown key\n%s", path, ErrBudgets, unknown.String())
		}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, _ := at.Position()
			path = fmt.Sprintf("%s:%d: %s", path, line, strings.Join(at.Key(), "."))
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

// anyOf is an expression for the names that a pattern stands for; without patterns, for no name.
func anyOf(patterns []string) *regexp.Regexp {
	var out []string
	for _, p := range patterns {
		out = append(out, strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*").Replace(regexp.QuoteMeta(p)))
	}
	if len(out) == 0 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	return regexp.MustCompile("^(?:" + strings.Join(out, "|") + ")$")
}

// Judgement is what has become of a budget.
type Judgement struct {
	Budget
	// Value is what counts, in its unit; nil where nothing was measured, which Reason explains.
	Value  *Spread
	Unit   string
	Reason string
	// Measured is how many figures count, Missed how many of them do not hold, and Lacking how many were not measured. Worst is
	// the name of the worst.
	Measured, Missed, Lacking int
	Worst                     string
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
	wanted, excepted := anyOf(b.Figures), anyOf(b.Except)
	var values []Spread
	for i := range figures {
		f := &figures[i]
		switch {
		case !wanted.MatchString(f.Name) || excepted.MatchString(f.Name):
		case f.Value == nil:
			j.Lacking++
			j.Unit, j.Reason = cmp.Or(j.Unit, f.Unit), cmp.Or(j.Reason, f.Name+": "+f.Missing)
		case j.Value != nil && f.Unit != j.Unit:
			return Judgement{Budget: *b, Reason: fmt.Sprintf("%s is in %s, and %s in %s", f.Name, f.Unit, j.Worst, j.Unit)}
		default:
			j.take(f)
			values = append(values, *f.Value)
		}
	}
	j.Measured = len(values)
	if b.Take == mean && len(values) > 0 {
		j.Value, j.Worst = geometric(values), ""
	}
	if j.Value == nil {
		j.Reason = cmp.Or(j.Reason, b.Absent)
	}
	return j
}

// take counts a figure.
func (j *Judgement) take(f *Figure) {
	j.Unit = f.Unit
	if !j.holds(f.Value.Median) {
		j.Missed++
	}
	if j.Value == nil || j.worse(f.Value.Median, j.Value.Median) {
		j.Value, j.Worst = f.Value, f.Name
	}
}

// geometric is the mean of ratios and times, which are above 0; a 0 counts as the least that is.
func geometric(values []Spread) *Spread {
	var low, median, high float64
	for _, v := range values {
		low, median, high = low+logarithm(v.Low), median+logarithm(v.Median), high+logarithm(v.High)
	}
	n := float64(len(values))
	return &Spread{math.Exp(low / n), math.Exp(median / n), math.Exp(high / n)}
}

func logarithm(v float64) float64 { return math.Log(max(v, math.SmallestNonzeroFloat64)) }

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

// Holds says whether what was promised was measured, all of it.
func (j *Judgement) Holds() bool { return j.Value != nil && j.Lacking == 0 && j.holds(j.Value.Median) }

// Misses says whether what was measured is not what was promised.
func (j *Judgement) Misses() bool { return j.Value != nil && !j.holds(j.Value.Median) }

// percent writes a share; of small ones with more digits.
func percent(share float64) string {
	switch {
	case share < 0.001:
		return fmt.Sprintf("%.2g", share*100)
	case share < 0.1:
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
	if j.Misses() {
		text = fmt.Sprintf("misses by %s %%", percent(math.Abs(j.Value.Median/j.limit()-1)))
	}
	if j.Value.Low < j.limit() && j.limit() < j.Value.High {
		text += "?"
	}
	if j.Take == each && j.Measured+j.Lacking > 1 {
		text += fmt.Sprintf(", %d of %d hold", j.Measured-j.Missed, j.Measured+j.Lacking)
	}
	if j.Missed > 0 && j.Take == each && j.Measured > 1 {
		text += ", the worst: " + j.Worst
	}
	if j.Lacking > 0 {
		text += fmt.Sprintf(", %d not measured: %s", j.Lacking, j.Reason)
	}
	return text
}
