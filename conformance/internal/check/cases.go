package check

import (
	"errors"
	"fmt"

	"github.com/opcast/opcast/conformance/internal/cases"
)

// OpSampler makes the contents of the op's inputs; nil where that is left to chance.
func (t *T) OpSampler() cases.Sampler { return t.Env.Samplers[t.Op.Name] }

// SampledCase is the call of a plan, with the contents that the author makes.
func (t *T) SampledCase(p cases.Plan) (*cases.Case, error) {
	p.Sampler = t.OpSampler()
	return cases.New(t.Op, p)
}

// MeetingCase is SampledCase, with other attributes where the condition of the plan needs them.
func (t *T) MeetingCase(p cases.Plan) (*cases.Case, error) {
	p.Sampler = t.OpSampler()
	return cases.Meeting(t.Op, p)
}

// NewCase is the call of a plan that the kernel of the present row takes.
func (t *T) NewCase(p cases.Plan) (*cases.Case, error) {
	if t.Env.Seed != 0 {
		p.Name = fmt.Sprintf("%s, seed %d", p.Name, t.Env.Seed)
	}
	p.Sampler = t.OpSampler()
	return cases.ForKernel(t.Op, t.RowKernel(), p)
}

// withObstacle adds to the error that there are no sizes which part of the definition has none.
func (t *T) withObstacle(err error) error {
	all := cases.DeclaredDTypes(t.Op)
	if !errors.Is(err, cases.ErrNoSizes) || len(all) == 0 {
		return err
	}
	if o := cases.FindObstacle(t.Op, cases.BasePlan(all[0])); o != nil {
		return fmt.Errorf("%w: %s", err, o)
	}
	return err
}

// CasesOf turns plans into calls. A plan that the definition's conditions, or the kernel of the present row, exclude is left
// out.
func (t *T) CasesOf(plans []cases.Plan) []*cases.Case {
	var out []*cases.Case
	for _, p := range plans {
		if c, err := t.NewCase(p); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// FirstDTypes is the choice of dtypes for checks in which they do not matter.
func (t *T) FirstDTypes() (cases.DTypes, error) {
	all := cases.SupportedDTypes(t.Op, t.Env.Device)
	if len(all) == 0 {
		return nil, Skip("no kernel for device %s", t.Env.Device)
	}
	t.StartRow(t.generalKernel(all[0]), all[0].String())
	return all[0], nil
}

// EachOptionalPlan runs a body for the cases of OptionalPlans of the first choice of dtypes.
func (t *T) EachOptionalPlan(body func(c *cases.Case) error) error {
	d, err := t.FirstDTypes()
	if err != nil {
		return err
	}
	return ForEach(t.CasesOf(cases.OptionalPlans(t.Op, d)), body)
}

// WithFewerDTypes lets a check run with fewer choices of dtypes: one that is about something else than dtypes.
func WithFewerDTypes(run func(*T) error) func(*T) error {
	return func(t *T) error {
		t.fewerDTypes = true
		return run(t)
	}
}

// WithKernelsOnly is WithFewerDTypes for a check of what only kernels can get wrong: adaptors, some of which compile
// for every size, show it for one choice.
func WithKernelsOnly(run func(*T) error) func(*T) error {
	return func(t *T) error {
		t.kernelsOnly = true
		return WithFewerDTypes(run)(t)
	}
}

// WithEachKernel is WithKernelsOnly for a check of what no dtype changes, such as how many rows there are.
func WithEachKernel(run func(*T) error) func(*T) error {
	return func(t *T) error {
		t.eachKernel = true
		return WithKernelsOnly(run)(t)
	}
}
