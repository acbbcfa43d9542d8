package bench

import "fmt"

// roofline shows operations per second over operations per byte, below what a copy through memory permits.
type roofline struct {
	Width, Height, Left, Right, Top, Bottom float64
	X, Y                                    []Tick
	Roofs                                   []roof
	Points                                  []point
}

// roof is what memory permits with a number of threads.
type roof struct {
	X1, Y1, X2, Y2 float64
	Says           string
}

type point struct {
	X, Y float64
	// Several says that the row was measured with several threads.
	Several bool
	Says    string
}

// The measures of this plot, in pixels.
const (
	roofLeft, roofRight = 60, 1080
	roofTop, roofBottom = 20, 420
)

// newRoofline is nil where no row has operations and bytes.
func newRoofline(r *Result) *roofline {
	var intensities, rates []float64
	var shown []*Row
	for i := range r.Rows {
		row := &r.Rows[i]
		rate, counted := row.Rate()
		if !counted || row.Bytes == nil || *row.Bytes == 0 || rate == 0 {
			continue
		}
		shown = append(shown, row)
		intensities, rates = append(intensities, row.intensity()), append(rates, rate)
	}
	if len(shown) == 0 {
		return nil
	}
	x := newAxis(intensities, 10, roofLeft, roofRight)
	for _, c := range r.Copies() { // a roof begins where the plot does
		rates = append(rates, c.Speed.Median*x.low)
	}
	y := newAxis(rates, 10, roofBottom, roofTop)
	p := &roofline{
		Width: roofRight + 30, Height: roofBottom + 50, Left: roofLeft, Right: roofRight, Top: roofTop, Bottom: roofBottom,
		X: x.ticks(10), Y: y.ticks(10),
	}
	for _, c := range r.Copies() {
		p.Roofs = append(p.Roofs, newRoof(x, y, c))
	}
	for _, row := range shown {
		rate, _ := row.Rate()
		p.Points = append(p.Points, point{
			X: x.At(row.intensity()), Y: y.At(rate), Several: row.Threads > 1,
			Says: fmt.Sprintf("%s: %s GFLOP/s, %s operations per byte", row.title(), Digits(rate), Digits(row.intensity())),
		})
	}
	return p
}

// intensity is how many operations stand against a byte.
func (r *Row) intensity() float64 { return float64(*r.Flops) / float64(*r.Bytes) }

// newRoof is drawn up to where it leaves the plot, at its right or at its upper end.
func newRoof(x, y axis, c CopySpeed) roof {
	end := min(x.high, y.high/c.Speed.Median)
	return roof{
		X1: x.At(x.low), Y1: y.At(c.Speed.Median * x.low), X2: x.At(end), Y2: y.At(c.Speed.Median * end),
		Says: fmt.Sprintf("a copy through memory: %s GB/s with %s", Digits(c.Speed.Median), threads(c.Threads)),
	}
}
