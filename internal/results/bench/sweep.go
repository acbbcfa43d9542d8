package bench

import (
	"fmt"
	"slices"
	"strings"
)

// curves are the times of a swept workload over its size, of the op and of its peers, on logarithmic axes.
type curves struct {
	Title, Size                             string
	Width, Height, Left, Right, Top, Bottom float64
	X, Y                                    []Tick
	Curves                                  []curve
}

// curve is the op, or one of its peers. Points is what a polyline has; the label stands at its right end.
type curve struct {
	Name, Points string
	Own          bool
	EndX, EndY   float64
	Dots         []dot
}

// swept is a group of rows that differ in one size.
type swept struct {
	Key
	Size string
}

// The measures of these plots, in pixels.
const (
	curvesLeft, curvesRight = 70, 900
	curvesTop, curvesBottom = 20, 320
)

// newCurves has a plot for each workload, caller and number of threads that a size was varied in, in the order of the rows.
func newCurves(rows []Row) (plots []*curves) {
	var order []swept
	groups := map[swept][]*Row{}
	for i := range rows {
		row := &rows[i]
		if row.Swept == nil {
			continue
		}
		group := swept{row.Key, row.Swept.Size}
		group.Workload = row.Swept.Workload
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], row)
	}
	for _, group := range order {
		all := groups[group]
		slices.SortFunc(all, func(a, b *Row) int { return int(a.Swept.Value - b.Swept.Value) })
		plots = append(plots, newPlot(group, all))
	}
	return plots
}

func newPlot(group swept, rows []*Row) *curves {
	var sizes, times []float64
	for _, row := range rows {
		sizes, times = append(sizes, sizeOf(row)), append(times, row.Time.Median)
		for _, p := range row.Peers {
			if p.Time != nil {
				times = append(times, p.Time.Median)
			}
		}
	}
	x, y := newAxis(sizes, 2, curvesLeft, curvesRight), newAxis(times, 10, curvesBottom, curvesTop)
	title := Row{Key: group.Key}
	plot := &curves{
		Title: title.title(), Size: group.Size, Width: curvesRight + 210, Height: curvesBottom + 50,
		Left: curvesLeft, Right: curvesRight, Top: curvesTop, Bottom: curvesBottom, X: x.ticks(2), Y: y.ticks(10),
	}
	for i := range plot.Y { // times are nanoseconds
		plot.Y[i].Text = Duration(y.value(plot.Y[i].At))
	}
	names := []string{""}
	for _, row := range rows {
		for _, p := range row.Peers {
			if p.Time != nil && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	for _, name := range names {
		plot.Curves = append(plot.Curves, newCurve(name, group.Op, rows, x, y))
	}
	return plot
}

// sizeOf is where a row stands; a size of 0, which has no logarithm, stands at a half.
func sizeOf(row *Row) float64 { return max(float64(row.Swept.Value), 0.5) }

// newCurve is that of a peer, or of the op where the name is empty.
func newCurve(name, op string, rows []*Row, x, y axis) curve {
	c := curve{Name: name, Own: name == ""}
	if c.Own {
		c.Name = op
	}
	var points []string
	for _, row := range rows {
		time := &row.Time
		if !c.Own {
			i := slices.IndexFunc(row.Peers, func(p Peer) bool { return p.Name == name && p.Time != nil })
			if i < 0 {
				continue
			}
			time = row.Peers[i].Time
		}
		c.EndX, c.EndY = x.At(sizeOf(row)), y.At(time.Median)
		points = append(points, fmt.Sprintf("%.1f,%.1f", c.EndX, c.EndY))
		c.Dots = append(c.Dots, dot{X: c.EndX, Low: c.EndY, Best: c.Own, Says: fmt.Sprintf("%s, %s = %d: %s (%s)", c.Name, row.Swept.Size, row.Swept.Value, Duration(time.Median), time.Quartiles())})
	}
	c.Points = strings.Join(points, " ")
	return c
}
