// Package derivative judges whether the arguments of an op that computes a derivative fit those of the op whose
// derivative it is. It knows arguments as plain data: their names, types and presence.
package derivative

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Arg is what counts of an argument.
type Arg struct {
	Name string
	// Text is the type as the definition writes it; Type is its dtype or dtype variable and then its dims, without spaces.
	Text string
	Type []string
	// DTypes are the dtypes that it may have, all of floating point if it is Smooth. Var is the variable for them, or "".
	DTypes          []string
	Var             string
	Smooth          bool
	Optional, Saved bool
	PresentIf       string
	// LSE is the convention of a log-sum-exp or of packed numbers, or "". Broadcast says that the leading dims are those of all inputs.
	LSE       string
	Broadcast bool
}

// Op is what counts of an op.
type Op struct {
	Name            string
	Inputs, Outputs []Arg
	// Of is the op whose derivative this one is; nil for other ops.
	Of *Op
	// Gradient and Tangent are the ops that compute its derivatives, or nil; GradPrefix and TangentPrefix begin the names of
	// the arguments there.
	Gradient, Tangent         *Op
	GradPrefix, TangentPrefix string
	// NoGrad names inputs by which there is no derivative.
	NoGrad []string
}

// Mistake is a mistake at a path of the definition of the op that computes the derivative.
type Mistake struct{ Path, Code, Hint, Text string }

// CheckGradient judges the gradient op of op: it draws its inputs from grad_OUTPUT and the inputs and outputs there, and
// gives grad_INPUT. An argument has the type of what it is, or of what it is the gradient of.
func CheckGradient(op *Op) []Mistake {
	c := check{op: op, derived: op.Gradient, said: map[string]bool{}}
	known := c.given()
	for _, out := range op.Outputs {
		if name := op.GradPrefix + out.Name; !out.Saved {
			out.Optional, out.LSE = out.PresentIf != "", ""
			addNew(known, name, out)
		}
	}
	_ = c.inputs(known, op.GradPrefix+"OUTPUT, or inputs and outputs of "+op.Name)
	made := map[string]Arg{}
	for _, in := range op.Inputs {
		in.PresentIf = ""
		if in.Optional {
			in.PresentIf = in.Name
		}
		made[op.GradPrefix+in.Name] = in
	}
	misnamed := c.outputs(made, op.GradPrefix+"INPUT")
	c.broadcast()
	c.complete(op.GradPrefix, "outputs", c.derived.Outputs, misnamed)
	return c.found
}

// CheckTangent judges the op of tangents of op: it draws its inputs from tangent_INPUT and the inputs and outputs there,
// and gives tangent_OUTPUT.
func CheckTangent(op *Op) []Mistake {
	c := check{op: op, derived: op.Tangent, said: map[string]bool{}}
	known := c.given()
	for _, in := range op.Inputs {
		addNew(known, op.TangentPrefix+in.Name, in)
	}
	misnamed := c.inputs(known, op.TangentPrefix+"INPUT, or inputs and outputs of "+op.Name)
	made := map[string]Arg{}
	for _, out := range op.Outputs {
		if name := op.TangentPrefix + out.Name; !out.Saved {
			made[name] = out
			if out.Smooth && !has(c.derived.Outputs, name) {
				c.report("outputs", code.Gradient, "add an output for it", "there is no %s", name)
			}
		}
	}
	_ = c.outputs(made, op.TangentPrefix+"OUTPUT")
	for i, in := range c.derived.Inputs {
		if of, ok := known[in.Name]; ok && of.Name != in.Name && !of.Smooth {
			c.report(tomldoc.Join(tomldoc.Element("inputs", i), "type"), code.GradType, "leave it out", "%s is not of floating point: it has no tangent", of.Name)
		}
	}
	c.broadcastTangent()
	if op.Gradient == nil || op.Of != nil {
		c.complete(op.TangentPrefix, "inputs", c.derived.Inputs, misnamed)
	}
	c.agree()
	return c.found
}

// check holds an op against the op whose derivative it computes.
type check struct {
	op, derived *Op
	found       []Mistake
	// said are the dtype variables that were reported.
	said map[string]bool
}

func (c *check) report(path, code, hint, format string, args ...any) {
	c.found = append(c.found, Mistake{path, code, hint, fmt.Sprintf(format, args...)})
}

// given are the arguments of the op by name; outputs come as inputs of a derivative do.
func (c *check) given() map[string]Arg {
	known := map[string]Arg{}
	for _, in := range c.op.Inputs {
		known[in.Name] = in
	}
	for _, out := range c.op.Outputs {
		out.Optional = out.PresentIf != ""
		known[out.Name] = out
	}
	return known
}

func addNew(known map[string]Arg, name string, arg Arg) {
	if _, taken := known[name]; !taken {
		known[name] = arg
	}
}

// inputs checks the inputs of the derivative, which can be the known ones, and returns how many have names that stand for nothing.
func (c *check) inputs(known map[string]Arg, what string) (misnamed int) {
	for i, in := range c.derived.Inputs {
		path := tomldoc.Element("inputs", i)
		of, ok := known[in.Name]
		if !ok {
			misnamed++
			hint := diag.DidYouMean(in.Name, names(known), "inputs are "+what)
			c.report(tomldoc.Join(path, "name"), code.Gradient, hint, "%s gives no %s to its derivative", c.op.Name, in.Name)
			continue
		}
		c.sameType(tomldoc.Join(path, "type"), in, of)
		switch {
		case of.Optional && !in.Optional:
			c.report(path, code.GradType, "add optional = true", "%s may be absent in %s", in.Name, c.op.Name)
		case in.Optional && !of.Optional:
			c.report(path, code.GradType, "leave optional out", "%s is never absent in %s", in.Name, c.op.Name)
		}
	}
	return misnamed
}

// outputs checks the outputs of the derivative in the same way.
func (c *check) outputs(known map[string]Arg, what string) (misnamed int) {
	for i, out := range c.derived.Outputs {
		path := tomldoc.Element("outputs", i)
		of, ok := known[out.Name]
		if !ok {
			if !out.Saved {
				misnamed++
				hint := diag.DidYouMean(out.Name, names(known), "outputs are "+what)
				c.report(tomldoc.Join(path, "name"), code.Gradient, hint, "%s is the derivative of no argument of %s", out.Name, c.op.Name)
			}
			continue
		}
		c.sameType(tomldoc.Join(path, "type"), out, of)
		switch {
		case of.PresentIf != "" && out.PresentIf != of.PresentIf:
			hint := fmt.Sprintf("add present_if = %q", of.PresentIf)
			c.report(path, code.GradType, hint, "%s exists exactly when %s does", out.Name, of.Name)
		case of.PresentIf == "" && out.PresentIf != "":
			c.report(path, code.GradType, "leave present_if out", "%s always exists, as %s does", out.Name, of.Name)
		}
		if !of.Smooth {
			c.report(tomldoc.Join(path, "type"), code.GradType, "leave it out", "%s is not of floating point: it has no derivative", of.Name)
		}
	}
	return misnamed
}

// broadcast asks for an input by which gradients get all of the leading dims that are summed later: one of the op's outputs or
// its gradient, or all inputs that are broadcast.
func (c *check) broadcast() {
	wide := func(a Arg) bool { return a.Broadcast }
	i := slices.IndexFunc(c.derived.Outputs, wide)
	full := func(a Arg) bool { return a.Broadcast && !a.Optional && !has(c.op.Inputs, a.Name) }
	lacks := slices.IndexFunc(c.op.Inputs, func(a Arg) bool { return a.Broadcast && !has(c.derived.Inputs, a.Name) })
	if i >= 0 && lacks >= 0 && !slices.ContainsFunc(c.derived.Inputs, full) {
		c.report(tomldoc.Element("outputs", i), code.GradType, `give it the gradient of an output with "..."`,
			"%s has the leading dims of all inputs, but %s is not given", c.derived.Outputs[i].Name, c.op.Inputs[lacks].Name)
	}
}

// broadcastTangent asks for arguments that together have all of the leading dims of the results: an output of the op, or of
// every broadcast input itself or its tangent.
func (c *check) broadcastTangent() {
	full := func(a Arg) bool { return a.Broadcast && !a.Optional && has(c.op.Outputs, a.Name) }
	i := slices.IndexFunc(c.derived.Outputs, func(a Arg) bool { return a.Broadcast })
	lacks := slices.IndexFunc(c.op.Inputs, func(a Arg) bool {
		return a.Broadcast && !has(c.derived.Inputs, a.Name) && !has(c.derived.Inputs, c.op.TangentPrefix+a.Name)
	})
	if i >= 0 && lacks >= 0 && !slices.ContainsFunc(c.derived.Inputs, full) {
		c.report(tomldoc.Element("outputs", i), code.GradType, "give it "+c.op.Inputs[lacks].Name,
			"%s has the leading dims of all inputs, but %s is not given", c.derived.Outputs[i].Name, c.op.Inputs[lacks].Name)
	}
}

// sameType reports an argument whose type differs from that of the other op's argument in dims or dtypes.
func (c *check) sameType(path string, arg, of Arg) {
	if arg.Name == of.Name && arg.LSE != of.LSE {
		c.report(tomldoc.Parent(path), code.LSE, "declare lse and packs as "+c.op.Name+" does", "%s has another convention in %s", arg.Name, c.op.Name)
	}
	if !slices.Equal(arg.Type, of.Type) {
		c.report(path, code.GradType, fmt.Sprintf("write %q", of.Text), "%s is %s, in %s it is %s", arg.Name, arg.Text, c.op.Name, of.Text)
		return
	}
	for _, name := range of.DTypes {
		if !slices.Contains(arg.DTypes, name) && !c.said[arg.Var] {
			c.said[arg.Var] = true
			c.report(tomldoc.Join("dtypes", arg.Var), code.GradType, "let a derivative take all dtypes of its op",
				"%s of %s may be %s, here it may not", arg.Var, c.op.Name, name)
		}
	}
}

// complete asks for the derivative by every input, since one that is left out would count as zero, unless no_grad names it. An
// input without derivative in the op whose derivative this is has none here. Saved outputs there have none at all. Nothing is
// said of so many that are missing as there are misnamed arguments.
func (c *check) complete(prefix, key string, args []Arg, misnamed int) {
	constant, saved := c.op.NoGrad, func(Arg) bool { return false }
	if of := c.op.Of; of != nil {
		constant = append(Constant(of), constant...)
		saved = func(in Arg) bool {
			return slices.ContainsFunc(of.Outputs, func(a Arg) bool { return a.Saved && a.Name == in.Name })
		}
	}
	var missing []string
	for _, in := range c.op.Inputs {
		switch {
		case !in.Smooth || slices.Contains(constant, in.Name):
		case saved(in):
			c.report("", code.GradLink, fmt.Sprintf("compute %s again in %s, or return it from %s", in.Name, c.op.Name, c.op.Of.Name),
				"%s takes the saved output %s, through which no derivative goes", c.op.Name, in.Name)
		case !has(args, prefix+in.Name):
			missing = append(missing, in.Name)
		}
	}
	if len(missing) <= misnamed {
		return // they may be there, by another name
	}
	for _, name := range missing {
		c.report(key, code.Gradient, fmt.Sprintf("add it, or no_grad = [%q] to %s", name, c.op.Name), "there is no %s%s", prefix, name)
	}
}

// Constant lists the inputs by which an op has no derivative, though some others have one.
func Constant(op *Op) []string {
	var out []string
	for _, in := range op.Inputs {
		grad := op.Gradient != nil && has(op.Gradient.Outputs, op.GradPrefix+in.Name)
		tangent := op.Tangent != nil && has(op.Tangent.Inputs, op.TangentPrefix+in.Name)
		if !grad && !tangent {
			out = append(out, in.Name)
		}
	}
	return out
}

// agree asks for tangents of the inputs that have gradients, and of no others.
func (c *check) agree() {
	if c.op.Gradient == nil {
		return
	}
	for _, in := range c.op.Inputs {
		grad, tangent := c.op.GradPrefix+in.Name, c.op.TangentPrefix+in.Name
		switch have := has(c.derived.Inputs, tangent); {
		case !in.Smooth || has(c.op.Gradient.Outputs, grad) == have:
		case have:
			c.report("inputs", code.Gradient, "leave it out, or add "+grad+" there", "%s is there, but %s gives no %s", tangent, c.op.Gradient.Name, grad)
		default:
			c.report("inputs", code.Gradient, "add it", "there is no %s, but %s gives %s", tangent, c.op.Gradient.Name, grad)
		}
	}
}

func has(args []Arg, name string) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Name == name })
}

func names(known map[string]Arg) []string { return slices.Sorted(maps.Keys(known)) }
