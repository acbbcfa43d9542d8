package report

// compact is what the page's script works with. Texts are numbers into Texts, because the same few are in thousands of
// results; rows are lists, because names of fields would be most of the bytes. The order of the fields is that of `fields`
// in data.js.
type compact struct {
	Texts []string `json:"texts"`
	// Results: op, adaptor, group, check, kernel, dtype, status, milliseconds, reason, seed, reproducer, file, line.
	Results [][13]int `json:"results"`
	// ULPs: op, adaptor, kernel, dtype, output, allowed, got, want as texts; then the rest as it is.
	ULPs    []compactULPs     `json:"ulps"`
	Docs    map[string]string `json:"docs"`
	Scripts map[string]string `json:"scripts"`
	// Broken and Fixed are the places in Results of what changed since the previous run.
	Broken []int `json:"broken"`
	Fixed  []int `json:"fixed"`
}

type compactULPs struct {
	Texts [8]int  `json:"t"`
	Bins  []int64 `json:"b"`
	Worst float64 `json:"w"`
	Share float64 `json:"s"`
	Index []int64 `json:"i"`
}

// texts numbers texts in order of their first use.
type texts struct {
	list []string
	of   map[string]int
}

func (t *texts) number(s string) int {
	n, there := t.of[s]
	if !there {
		n = len(t.list)
		t.of[s] = n
		t.list = append(t.list, s)
	}
	return n
}

// data makes the compact form of a report.
func (r *Report) data(scripts map[string]string) *compact {
	t := &texts{of: map[string]int{}}
	d := &compact{
		Results: [][13]int{}, ULPs: []compactULPs{}, Docs: map[string]string{}, Scripts: scripts, Broken: []int{}, Fixed: []int{},
	}
	for _, c := range r.Checks {
		d.Docs[c.ID] = c.Doc
	}
	broken, fixed := r.changed()
	for i := range r.Results {
		x := &r.Results[i]
		d.Results = append(d.Results, [13]int{
			t.number(x.Op), t.number(x.Adaptor), t.number(x.Group), t.number(x.Check), t.number(x.Kernel), t.number(x.DType),
			t.number(string(x.Status)), int(x.Seconds * 1000), t.number(x.Reason), t.number(x.Seed), t.number(x.Reproducer),
			t.number(x.File), x.Line,
		})
		if broken[x.Key()] {
			d.Broken = append(d.Broken, i)
		}
		if fixed[x.Key()] {
			d.Fixed = append(d.Fixed, i)
		}
	}
	for i := range r.ULPs {
		x := &r.ULPs[i]
		d.ULPs = append(d.ULPs, compactULPs{[8]int{
			t.number(x.Op), t.number(x.Adaptor), t.number(x.Kernel), t.number(x.DType), t.number(x.Output), t.number(x.Allowed),
			t.number(x.Got), t.number(x.Want),
		}, x.Bins, x.Worst, x.Share, x.Index})
	}
	d.Texts = t.list
	return d
}

// changed are the keys of results that fail only now, and of those that failed before.
func (r *Report) changed() (broken, fixed map[Key]bool) {
	broken, fixed = map[Key]bool{}, map[Key]bool{}
	if r.Changes == nil {
		return broken, fixed
	}
	for _, c := range r.Changes.Broken {
		broken[c.key()] = true
	}
	for _, c := range r.Changes.Fixed {
		fixed[c.key()] = true
	}
	return broken, fixed
}

func (c *Change) key() Key { return Key{c.Op, c.Adaptor, c.Group, c.Check, c.Kernel, c.DType} }
