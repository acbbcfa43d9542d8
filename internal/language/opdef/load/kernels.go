package load

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

func (c *checker) kernels() {
	for i, raw := range c.raw.Kernels {
		path := tomldoc.Element("kernels", i)
		k := opdef.Kernel{
			Name: raw.Name, DTypes: c.kernelDTypes(path, raw.DTypes),
			Scratch:   len(c.op.Scratch) > 0 && (raw.Scratch == nil || *raw.Scratch),
			Supported: raw.Supported, QueryWorkspace: raw.QueryWorkspace,
		}
		if c.need(path, "device") {
			k.Devices = c.kernelDevices(tomldoc.Join(path, "device"), raw.Device)
		}
		k.Params = c.params(tomldoc.Join(path, "params"), raw.Params)
		if c.need(path, "name") {
			c.kernelName(path, k)
		}
		c.kernelScratch(path, k)
		c.arch(tomldoc.Join(path, "arch"), raw.Arch, &k)
		k.When = c.when(tomldoc.Join(path, "when"), raw.When)
		k.Compilers = c.compilers(tomldoc.Join(path, "compilers"), raw.Compilers, k.Devices)
		k.Breaks = c.breaks(tomldoc.Join(path, "parallel"), raw.Parallel)
		c.op.Kernels = append(c.op.Kernels, k)
	}
	if len(c.op.Kernels) > 0 && c.combinations <= maxCombinations {
		c.coverage()
		c.emulatedCoverage()
	}
}

// kernelName checks a name, and that no two kernels share a function: those of all devices stand in one namespace.
func (c *checker) kernelName(path string, k opdef.Kernel) {
	where := tomldoc.Join(path, "name")
	if !names.IsSnakeCase(k.Name) || len(k.Name) > names.MaxLength {
		c.report(where, code.Kernel, "write lower-case words joined by single underscores", "%q is no kernel name", k.Name)
	}
	if why := names.WhyNoClass(k.Name); why != "" {
		c.report(where, code.Reserved, "choose another name", "%q is reserved: %s", k.Name, why)
	}
	for _, other := range c.op.Kernels {
		switch {
		case names.Pascal(other.Name) == names.Pascal(k.Name):
			c.report(where, code.Kernel, "name one of them "+k.Name+"_"+strings.Join(k.Devices, "_"), "two kernels are named %s", k.Name)
		case sharesName(k, other) || sharesName(other, k):
			c.report(where, code.Kernel, "rename one of them", "a function of kernel %s is called like one of %s", k.Name, other.Name)
		}
	}
}

// sharesName says whether a function of a kernel is called like one of another, or like what is generated for that.
func sharesName(k, other opdef.Kernel) bool {
	taken := append(other.Functions(), other.Generated()...)
	return slices.ContainsFunc(k.Functions(), func(f string) bool { return slices.Contains(taken, f) })
}

func (c *checker) kernelScratch(path string, k opdef.Kernel) {
	for _, key := range []string{"scratch", "query_workspace"} {
		where := tomldoc.Join(path, key)
		switch {
		case !c.doc.Given(where):
		case len(c.raw.Scratch) == 0:
			c.diags.Add(c.doc.KeyAt(where), code.KernelWork, "leave it out, or declare scratch", "%s: the op has no scratch", key)
		case key == "query_workspace" && k.QueryWorkspace && !k.Scratch:
			c.diags.Add(c.doc.KeyAt(where), code.KernelWork, "", "query_workspace: the kernel takes no scratch")
		}
	}
}

// kernelDTypes reads the narrowed dtype variables, each one name or a list.
func (c *checker) kernelDTypes(path string, raw map[string]any) map[string][]string {
	narrowed := map[string][]string{}
	for _, name := range keys(raw) {
		where := tomldoc.Join(tomldoc.Join(path, "dtypes"), name)
		allowed, ok := c.raw.DTypes[name]
		if !ok {
			hint := diag.DidYouMean(name, keys(c.raw.DTypes), "name a variable of dtypes")
			c.diags.Add(c.doc.KeyAt(where), code.KernelDType, hint, "unknown dtype variable %s", name)
			continue
		}
		list, ok := raw[name].([]any)
		if !ok {
			list = []any{raw[name]}
		}
		for _, v := range list {
			word, ok := v.(string)
			if !ok || !slices.Contains(allowed, word) {
				c.report(where, code.KernelDType, name+" is "+diag.OneOf(allowed), "%s is never %s", name, tomldoc.Show(v))
			}
			narrowed[name] = append(narrowed[name], word)
		}
		if len(list) == 0 {
			c.report(where, code.KernelDType, "leave it out for all dtypes", "%s has no dtype left", name)
		}
	}
	return narrowed
}

func (c *checker) when(path, text string) *expr.Expr {
	if !c.doc.Given(path) {
		return nil
	}
	e, err := expr.Parse(text)
	if err != nil {
		c.syntax(path, code.Expr, err)
		return nil
	}
	c.condition(e, use{path: path, when: true})
	return e
}

// coverage looks for a dtype combination that no kernel takes. Other conditions are not known before a call.
func (c *checker) coverage() {
	missing := c.combinationsWhere(func(dtypes map[string]string) bool {
		return !slices.ContainsFunc(c.op.Kernels, func(k opdef.Kernel) bool { return k.Accepts(dtypes, nil) != expr.KnownFalse })
	})
	if len(missing) > 0 {
		c.diags.Add(c.doc.KeyAt(tomldoc.Element("kernels", 0)), code.Uncovered, "add a kernel for it, or take the dtype out of dtypes",
			"no kernel takes %s (%d of the declared combinations)", missing[0], len(missing))
	}
}

// combinationsWhere lists the dtype combinations that no condition excludes and that pass a test: "O = f16, T = f32".
func (c *checker) combinationsWhere(test func(dtypes map[string]string) bool) (list []string) {
	eachCombination(c.op.DTypes, func(dtypes map[string]string) {
		if c.op.Excludes(dtypes) || !test(dtypes) {
			return
		}
		parts := make([]string, 0, len(dtypes))
		for _, name := range keys(dtypes) {
			parts = append(parts, name+" = "+dtypes[name])
		}
		list = append(list, strings.Join(parts, ", "))
	})
	return list
}

// needKernel reports an op that has no kernel for any device of the project: nothing could run it.
func needKernel(o *opdef.Op, diags *diag.List) {
	if len(o.KernelList()) == 0 {
		diags.Add(o.Pos[tomldoc.Element("kernels", 0)], code.Uncovered, "add a kernel for one, or leave kernels out",
			"no kernel is for a device of the manifest: %s", strings.Join(o.Devices, ", "))
	}
}

// eachCombination visits every choice of dtypes, the last variable turning fastest.
func eachCombination(vars []opdef.DTypeVar, visit func(map[string]string)) {
	chosen := map[string]string{}
	var choose func(int)
	choose = func(i int) {
		if i == len(vars) {
			visit(chosen)
			return
		}
		for _, name := range vars[i].OneOf {
			chosen[vars[i].Name] = name
			choose(i + 1)
		}
	}
	choose(0)
}
