package gen

import (
	"fmt"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
)

// torchPackage emits the PyTorch adaptor.
func (g *generator) torchPackage() error {
	for _, op := range g.ops {
		if err := g.render("torch/op.py.tmpl", g.moduleFile("torch", op), &torchOp{pyOp{op, frameworks["torch"]}}); err != nil {
			return err
		}
	}
	return g.adaptorPackage("torch")
}

// torchOp is an op as its module in the PyTorch adaptor sees it.
type torchOp struct{ pyOp }

// Register is the call that registers the op.
func (v *torchOp) Register() string {
	items := []string{pyString(v.Name), v.PyHash(), pyString(v.Schema())}
	return pyLayout("", "_op = _rt.Op(", items, ")")
}

// Schema is the op's schema in PyTorch's language, without its name. It has no defaults: the dispatcher strips arguments
// that equal them, which confuses sharding rules and Inductor.
func (v *torchOp) Schema() string {
	var args []string
	for _, a := range v.Inputs {
		kind := "Tensor"
		if a.Optional {
			kind += "?"
		}
		args = append(args, kind+" "+a.Name)
	}
	for i := range v.Attrs {
		args = append(args, torchType(&v.Attrs[i])+" "+v.Attrs[i].Name)
	}
	result := "Tensor"
	if n := len(v.Outputs); n > 1 {
		result = "(" + strings.Join(repeat("Tensor", n), ", ") + ")"
	}
	return "(" + strings.Join(args, ", ") + ") -> " + result
}

func torchType(a *opdef.Attr) string {
	absent := ""
	if a.DefaultExpr != nil || a.Type == "dtype" && a.HasDefault {
		absent = "?"
	}
	if a.Type == "dtype" {
		return "ScalarType" + absent
	}
	return a.Type + absent
}

// Guard is the condition under which the kernel may be called at once: plain tensors, and nobody who wants to see the op.
func (v *torchOp) Guard() string {
	conditions := []pyBoolean{test("out is None")}
	for _, a := range v.Inputs {
		kinds := []string{fmt.Sprintf("type(%s) is _rt.Tensor", a.Name), fmt.Sprintf("type(%s) is _rt.Parameter", a.Name)}
		if a.Optional {
			kinds = append([]string{a.Name + " is None"}, kinds...)
		}
		conditions = append(conditions, anyOf(tests(kinds)))
	}
	conditions = append(conditions, v.dtypesGiven()...)
	watched := tests([]string{
		"_rt.compiling()", "_rt.modes()", "_rt.function_mode()", "_rt.forward_ad._current_level >= 0",
		"_rt.tracing()", "_rt.profiler._is_profiler_enabled",
	})
	watched = append(watched, allOf([]pyBoolean{anyOf(v.given("requires_grad")), test("_rt.grad_enabled()")}))
	watched = append(watched, v.given("is_neg()")...)
	return pyIf("    ", allOf(append(conditions, not(anyOf(watched)))))
}

// given asks every tensor that is given.
func (v *torchOp) given(member string) []pyBoolean {
	var out []pyBoolean
	for _, a := range v.Inputs {
		asked := test(a.Name + "." + member)
		if a.Optional {
			asked = allOf([]pyBoolean{test(a.Name + " is not None"), asked})
		}
		out = append(out, asked)
	}
	return out
}

// Allocate prints the lines that make the outputs.
func (v *torchOp) Allocate() []string {
	lines := v.fastShapes()
	for i := range v.Outputs {
		out := &v.Outputs[i]
		if twin := v.twin(out); twin != "" && v.Inputs[v.InputIndex(twin)].Stride == "" {
			lines = append(lines, fmt.Sprintf("%s = _rt.empty_like(%s)", out.Name, twin))
			continue
		}
		like := v.Inputs[0].Name
		args := []string{v.fastShape(out.Type)}
		// new_empty takes an absent dtype from its tensor.
		dtype := v.fastDType(out.Type, "_rt.torch.%s")
		if attr, found := strings.CutPrefix(dtype, like+".dtype if "); found {
			dtype, _, _ = strings.Cut(attr, " ")
		}
		if dtype != like+".dtype" {
			args = append(args, "dtype="+dtype)
		}
		lines = append(lines, pyLayout(strings.Repeat(" ", 12), out.Name+" = "+like+".new_empty(", args, ")")[12:])
	}
	return lines
}
