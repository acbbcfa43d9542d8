package conformance

// checkContents fills inputs that declare a range with its lowest value, with its highest, and with values from one to the
// other: ragged rows that are all empty, that begin behind others, that fill their memory.
func checkContents(t *T) error {
	return t.eachCase(contentPlans, t.valueOf)
}

func contentPlans(d dtypes) []plan {
	var plans []plan
	for _, kind := range []struct {
		contents contents
		name     string
	}{{lowest, "lowest"}, {highest, "highest"}, {rising, "rising"}} {
		p := base(d)
		p.name, p.contents = kind.name, kind.contents
		plans = append(plans, p)
	}
	return plans
}
