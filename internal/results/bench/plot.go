package bench

import (
	"fmt"
	"math"
)

// axis is a logarithmic scale between two ends, drawn from one place to another.
type axis struct{ low, high, from, to float64 }

// newAxis has room for all values; its ends are powers of the base.
func newAxis(values []float64, base, from, to float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		low, high = 1, 1
	}
	whole := func(v float64, round func(float64) float64) float64 {
		return math.Pow(base, round(math.Log(v)/math.Log(base)))
	}
	low, high = whole(low, math.Floor), whole(high, math.Ceil)
	if low == high {
		high *= base
	}
	return axis{low, high, from, to}
}

// At is where a value stands; those beyond an end stand there.
func (a axis) At(v float64) float64 {
	share := (math.Log(v) - math.Log(a.low)) / (math.Log(a.high) - math.Log(a.low))
	return a.from + min(max(share, 0), 1)*(a.to-a.from)
}

// value is what stands at a place.
func (a axis) value(at float64) float64 {
	return a.low * math.Pow(a.high/a.low, (at-a.from)/(a.to-a.from))
}

// Tick is a value with a line and a label.
type Tick struct {
	At   float64
	Text string
}

// ticks are the powers of a base, or as many of them as there is room for.
func (a axis) ticks(base float64) (out []Tick) {
	steps := int(math.Round(math.Log(a.high/a.low) / math.Log(base)))
	every := max((steps+11)/12, 1)
	for i := 0; i <= steps; i += every {
		v := a.low * math.Pow(base, float64(i))
		out = append(out, Tick{a.At(v), Number(v)})
	}
	return out
}

// Number writes a value beside an axis.
func Number(v float64) string { return fmt.Sprintf("%.4g", v) }

// dots are ratios to peers: a line for each row of the table that has any, a dot for each peer, and a bar from quartile to
// quartile.
type dots struct {
	Width, Height, Left, Right, Top, Bottom, One float64
	Ticks                                        []Tick
	Lines                                        []dotLine
}

type dotLine struct {
	Y     float64
	Title string
	Dots  []dot
}

type dot struct {
	X, Low, High float64
	// Slower says that the op takes longer than the peer, Best that no other peer is as fast.
	Slower, Best bool
	Says         string
}

// The measures of plots, in pixels.
const (
	lineHeight = 22
	plotLeft   = 440
	plotRight  = 1080
	plotTop    = 28
)

// newDots is nil where no row has a peer.
func newDots(rows []Row) *dots {
	values := []float64{0.5, 2}
	var shown []*Row
	for i := range rows {
		if rows[i].Best() == nil || rows[i].Swept != nil {
			continue
		}
		shown = append(shown, &rows[i])
		for _, p := range rows[i].Peers {
			if p.Ratio != nil {
				values = append(values, p.Ratio.Low, p.Ratio.High)
			}
		}
	}
	if len(shown) == 0 {
		return nil
	}
	x := newAxis(values, 2, plotLeft, plotRight)
	d := &dots{
		Width: plotRight + 30, Left: plotLeft, Right: plotRight, Top: plotTop, One: x.At(1),
		Bottom: plotTop + lineHeight*float64(len(shown)), Ticks: x.ticks(2),
	}
	d.Height = d.Bottom + 10
	for i, row := range shown {
		d.Lines = append(d.Lines, dotLine{
			Y: plotTop + lineHeight*(float64(i)+0.5), Title: row.title(), Dots: row.dots(x),
		})
	}
	return d
}

// dots are those of a row; the best peer comes last, so that it is drawn over the others.
func (r *Row) dots(x axis) []dot {
	var out, last []dot
	best := r.Best()
	for i := range r.Peers {
		p := &r.Peers[i]
		if p.Ratio == nil {
			continue
		}
		one := dot{
			X: x.At(p.Ratio.Median), Low: x.At(p.Ratio.Low), High: x.At(p.Ratio.High), Slower: p.Ratio.Median < 1, Best: p == best,
			Says: fmt.Sprintf("%.2f beside %s: %s, the op %s", p.Ratio.Median, p.Name, Duration(p.Time.Median), Duration(r.Time.Median)),
		}
		if one.Best {
			last = append(last, one)
		} else {
			out = append(out, one)
		}
	}
	return append(out, last...)
}
