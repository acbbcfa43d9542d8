package workload

// Small is the call with leading dims and sizes of at most so many elements. It may break what the definition requires.
func (c Call) Small(most int64) Call {
	w := *c.Workload
	w.Batch = make([]int64, len(c.Batch))
	for i, n := range c.Batch {
		w.Batch[i] = min(n, most)
	}
	w.Sizes = map[string]int64{}
	for name, n := range c.Sizes {
		w.Sizes[name] = min(n, most)
	}
	w.Elements = map[string][]int64{}
	for name, list := range c.Elements {
		for _, n := range list {
			w.Elements[name] = append(w.Elements[name], min(n, most))
		}
	}
	return Call{Op: c.Op, Workload: &w}
}
