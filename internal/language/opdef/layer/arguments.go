package layer

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// arguments says of every input and attribute where it comes from.
func (c *checker) arguments() {
	c.known("reads", slices.Sorted(maps.Keys(c.raw.Reads)))
	c.known("values", slices.Sorted(maps.Keys(c.raw.Values)))
	c.known("absent", slices.Sorted(maps.Keys(c.raw.Absent)))
	for i := range c.op.Inputs {
		c.input(i)
	}
	for i := range c.op.Attrs {
		c.attr(&c.op.Attrs[i])
	}
}

// known reports names that no argument has.
func (c *checker) known(key string, given []string) {
	var all []string
	for _, in := range c.op.Inputs {
		all = append(all, in.Name)
	}
	for _, a := range c.op.Attrs {
		all = append(all, a.Name)
	}
	for _, name := range given {
		if !slices.Contains(all, name) {
			path := tomldoc.Join(c.at(key), name)
			c.diags.Add(c.doc.KeyAt(path), code.Layer, diag.DidYouMean(name, all, "inputs and attributes are "+diag.OneOf(all)), "%s: the op has no %s", key, name)
		}
	}
}

// reads are the settings that hold an argument; false if none does.
func (c *checker) reads(name string) ([]string, bool) {
	list, given := c.raw.Reads[name]
	path := tomldoc.Join(c.at("reads"), name)
	if given && len(list) == 0 && !c.doc.Tainted(path) {
		c.report(path, fmt.Sprintf("for example [%q]", name), "reads.%s names no setting", name)
	}
	return list, given
}

func (c *checker) input(i int) {
	in := &c.op.Inputs[i]
	arg := opdef.LayerArg{Name: in.Name}
	list, read := c.reads(in.Name)
	arg.Reads, arg.Data = list, !read
	if read && i == 0 {
		c.report(tomldoc.Join(c.at("reads"), in.Name), "leave it out: the caller gives it", "the first input is no setting of a module")
	}
	if _, given := c.raw.Values[in.Name]; given {
		c.report(tomldoc.Join(c.at("values"), in.Name), "values are for attributes", "%s is an array", in.Name)
	}
	if value, given := c.raw.Absent[in.Name]; given {
		arg.Absent = c.fill(in, read, value)
	}
	c.out.Inputs = append(c.out.Inputs, arg)
}

// fill is the number that an array consists of which a module does not have. The array is as long as the rows of the data.
func (c *checker) fill(in *opdef.Arg, read bool, value any) any {
	path := tomldoc.Join(c.at("absent"), in.Name)
	converted, number := c.values.Convert(&opdef.Attr{Type: "float"}, value)
	x := &c.op.Inputs[0]
	switch {
	case c.doc.Tainted(path):
	case !read:
		c.report(path, "name it in reads", "%s is not read from the module", in.Name)
	case in.Optional:
		c.report(path, "leave it out: the call leaves out what is None", "%s is optional", in.Name)
	case !number || math.IsNaN(opdef.NumberValue(converted)):
		c.report(path, "the number of which all elements are", "absent.%s is no number", in.Name)
	case len(in.Type.Dims) != 1 || len(x.Type.Dims) == 0 || !in.Type.Dims[0].Is(x.Type.Dims[len(x.Type.Dims)-1].Text()) || !c.takes(in, x):
		c.report(path, "its only dim must be the last one of "+x.Name+", and its dtype may be that of "+x.Name, "the shape of %s does not follow from %s", in.Name, x.Name)
	default:
		return converted
	}
	return nil
}

// takes says whether an array may have every dtype that x has.
func (c *checker) takes(in, x *opdef.Arg) bool {
	list := c.op.Allowed(*in)
	return !slices.ContainsFunc(c.op.Allowed(*x), func(dtype string) bool { return !slices.Contains(list, dtype) })
}

func (c *checker) attr(a *opdef.Attr) {
	arg := opdef.LayerArg{Name: a.Name}
	list, read := c.reads(a.Name)
	arg.Reads = list
	if value, given := c.raw.Values[a.Name]; given {
		arg.Value = c.constant("values", a, value)
		if read {
			c.report(tomldoc.Join(c.at("values"), a.Name), "keep one of them", "%s is read from the module, too", a.Name)
		}
	} else if !read && !a.HasDefault {
		c.report(c.path, fmt.Sprintf("reads.%s = [%q], or values.%s = ...", a.Name, a.Name, a.Name), "nothing says what the attribute %s is", a.Name)
	}
	if value, given := c.raw.Absent[a.Name]; given {
		arg.Absent = c.constant("absent", a, value)
		if !read {
			c.report(tomldoc.Join(c.at("absent"), a.Name), "name it in reads", "%s is not read from the module", a.Name)
		}
	}
	c.out.Attrs = append(c.out.Attrs, arg)
}

// constant converts a value of an attribute.
func (c *checker) constant(key string, a *opdef.Attr, value any) any {
	path := tomldoc.Join(c.at(key), a.Name)
	converted, ok := c.values.Convert(a, value)
	switch {
	case c.doc.Tainted(path):
	case a.Type == "dtype":
		c.report(path, "leave it to its default", "%s is a dtype", a.Name)
	case !ok:
		c.report(path, "", "%s.%s is no value of type %s", key, a.Name, a.Type)
	default:
		if mistake := c.values.Outside(a, converted); mistake != "" {
			c.report(path, "", "%s.%s: %s", key, a.Name, mistake)
		}
		return converted
	}
	return nil
}

// expects converts the values that settings must have.
func (c *checker) expects() {
	for _, name := range slices.Sorted(maps.Keys(c.raw.Expects)) {
		path := tomldoc.Join(c.at("expects"), name)
		values, many := c.raw.Expects[name].([]any)
		if !many {
			values = []any{c.raw.Expects[name]}
		}
		if len(values) == 0 {
			c.report(path, "the values that the layer honours", "expects.%s is empty", name)
		}
		setting := opdef.LayerSetting{Name: name}
		for _, value := range values {
			if plain(value) {
				setting.Values = append(setting.Values, value)
			} else {
				c.report(path, "a string, a number, or true or false; or a list of these", "expects.%s has %s", name, tomldoc.TypeWord(value))
			}
		}
		c.out.Expects = append(c.out.Expects, setting)
	}
}

// plain says whether a setting can have a value.
func plain(value any) bool {
	switch v := value.(type) {
	case int64, bool, string:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return false
}

// shapes checks what makes the data of a module that of the op.
func (c *checker) shapes() {
	var data []*opdef.Arg
	for i := range c.out.Inputs {
		if c.out.Inputs[i].Data {
			data = append(data, &c.op.Inputs[i])
		}
	}
	for _, key := range []string{"rows", "trailing", "joins"} {
		if c.doc.Given(c.at(key)) && len(data) != 1 {
			c.report(c.at(key), "name the other inputs in reads", "the layer has %d inputs that are data, and %s is about one", len(data), key)
			return
		}
	}
	results := c.op.Returned()
	if c.doc.Given(c.at("then")) && len(results) != 1 {
		c.report(c.at("then"), "", "%s takes one array, and the op returns %d", c.raw.Then, len(results))
	}
	if c.doc.Given(c.at("joins")) && len(c.raw.Joins) == 0 {
		c.report(c.at("joins"), "leave it out", "joins names no module")
	}
	x := &c.op.Inputs[0]
	if c.doc.Given(c.at("rows")) {
		c.rows(x, results)
	}
	if c.doc.Given(c.at("trailing")) {
		last := lastDim(x)
		for _, a := range append([]opdef.Arg{*x}, results...) {
			if last == "" || lastDim(&a) != last {
				c.report(c.at("trailing"), "it must be one size, in data and results", "the last dim of %s is not that of %s", a.Name, x.Name)
				return
			}
		}
		for i := range c.out.Inputs {
			dims := c.op.Inputs[i].Type.Dims
			c.out.Inputs[i].Flat = !c.out.Inputs[i].Data && len(dims) == 1 && dims[0].Is(last)
		}
	}
}

// rows asks for a dim along which the op promises to work row by row.
func (c *checker) rows(x *opdef.Arg, results []opdef.Arg) {
	dim, path := c.raw.Rows, c.at("rows")
	own := slices.DeleteFunc(slices.Clone(x.Type.Dims), opdef.Dim.Leading)
	switch {
	case len(own) == 0 || !own[0].Is(dim):
		c.report(path, "it is the one that leading dims of any number replace", "%s is not the first dim of %s", dim, x.Name)
	case !slices.Contains(c.op.Parallel, dim):
		c.report(path, fmt.Sprintf("parallel = [%q], if it is", dim), "%s is no parallel dim", dim)
	default:
		for i, arg := range c.out.Inputs {
			if !arg.Data && c.op.Inputs[i].Has(dim) {
				c.report(path, "", "%s, which is read from the module, has the dim %s, too", arg.Name, dim)
			}
		}
		for _, r := range results {
			if own := slices.DeleteFunc(slices.Clone(r.Type.Dims), opdef.Dim.Leading); len(own) == 0 || !own[0].Is(dim) || r.Type.Lead() != x.Type.Lead() {
				c.report(path, "", "%s is not the first dim of %s", dim, r.Name)
			}
		}
		c.out.Rows = true
	}
}

// lastDim is an argument's last dim if it is a size that stands alone, else "".
func lastDim(a *opdef.Arg) string {
	if n := len(a.Type.Dims); n > 0 && a.Type.Dims[n-1].Plain() {
		return a.Type.Dims[n-1].Text()
	}
	return ""
}
