package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/mutate"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

// runEdits judges the mutants in the Python of a layer. Frameworks take seconds to start, so a round plants one mutant for
// each family of ops at once: ops that call each other are a family, and what all ops share is a round of its own. What all
// adaptors share is judged by one of them after the other: each gets what those before it did not notice.
func (b *Sandbox) runEdits(ctx context.Context, layer string, left []*mutate.Mutant, adaptors []string) error {
	frameworks := []string{layer}
	if layer == sharedLayer {
		frameworks = adaptors
	}
	for i, name := range frameworks {
		if len(left) == 0 {
			return nil
		}
		if err := b.ready(ctx, name); err != nil {
			return err
		}
		b.finalCaller = i == len(frameworks)-1
		var unnoticed []*mutate.Mutant
		for _, round := range b.Rounds(left) {
			if err := ctx.Err(); err != nil {
				return err
			}
			more, err := b.round(ctx, round, name)
			if err != nil {
				return err
			}
			unnoticed = append(unnoticed, more...)
		}
		if err := b.confirmOnOriginals(ctx, name); err != nil {
			return err
		}
		left = unnoticed
	}
	return nil
}

// sharedLayer is the Python that all adaptors use.
const sharedLayer = "python"

// confirmOnOriginals holds the checks that noticed something against the sound files.
func (b *Sandbox) confirmOnOriginals(ctx context.Context, caller string) error {
	if len(b.killers) == 0 {
		return nil
	}
	if err := b.restart(ctx, caller); err != nil {
		return err
	}
	return b.confirmKills(ctx)
}

// Rounds parts mutants so that no two of a round meet in a call.
func (b *Sandbox) Rounds(list []*mutate.Mutant) [][]*mutate.Mutant {
	var out [][]*mutate.Mutant
	var families []map[string]bool
	for _, x := range list {
		if x.Op == "" {
			out, families = append(out, []*mutate.Mutant{x}), append(families, nil)
			continue
		}
		family := b.family(x.Op)
		i := slices.IndexFunc(families, func(have map[string]bool) bool { return have != nil && !have[family] })
		if i < 0 {
			i = len(out)
			out, families = append(out, nil), append(families, map[string]bool{})
		}
		out[i] = append(out[i], x)
		families[i][family] = true
	}
	return out
}

// family is the name of an op, or of that whose derivative it is.
func (b *Sandbox) family(name string) string {
	for _, op := range b.Project.Ops {
		if slices.ContainsFunc(op.Derived(), func(d *opdef.Op) bool { return d.Name == name }) && op.DerivedFrom() == nil {
			return op.Name
		}
	}
	return name
}

// round plants mutants, judges each of them and takes them out again. It returns those that another caller may notice.
func (b *Sandbox) round(ctx context.Context, mutants []*mutate.Mutant, caller string) (left []*mutate.Mutant, err error) {
	if err := b.edit(mutants, true); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.edit(mutants, false)) }()
	broken := b.restart(ctx, caller)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case broken != nil && len(mutants) > 1:
		return b.judgeSeparately(ctx, mutants, caller)
	case broken != nil:
		return nil, b.notImported(ctx, mutants[0], caller)
	}
	for _, x := range mutants {
		verdict, err := b.judge(ctx, x, b.affectedOps(x), []string{caller})
		switch {
		case err != nil:
			return nil, err
		case verdict.Verdict == report.Survived && !b.finalCaller:
			left = append(left, x)
		default:
			b.record(x, verdict)
		}
	}
	return left, nil
}

// notImported judges a mutant with which a package could not be imported: everyone notices that, if it happens again and does
// not happen with sound files.
func (b *Sandbox) notImported(ctx context.Context, x *mutate.Mutant, caller string) error {
	again := b.restart(ctx, caller)
	if err := b.edit([]*mutate.Mutant{x}, false); err != nil {
		return err
	}
	if err := b.restart(ctx, caller); err != nil {
		return fmt.Errorf("start %s without a mutant: %w", caller, err)
	}
	if again == nil {
		return fmt.Errorf("%s: a package is imported or not, by chance", x.ID)
	}
	b.record(x, report.Mutant{Verdict: report.Killed, By: "import", Adaptor: caller, Reason: again.Error()})
	return nil
}

// judgeSeparately judges the mutants of a round one by one: with one of them, a package cannot be imported.
func (b *Sandbox) judgeSeparately(ctx context.Context, mutants []*mutate.Mutant, caller string) (left []*mutate.Mutant, err error) {
	if err := b.edit(mutants, false); err != nil {
		return nil, err
	}
	for _, x := range mutants {
		more, err := b.round(ctx, []*mutate.Mutant{x}, caller)
		if err != nil {
			return nil, err
		}
		left = append(left, more...)
	}
	return left, nil
}

// affectedOps are the ops that a mutant may show in.
func (b *Sandbox) affectedOps(x *mutate.Mutant) []*opdef.Op {
	names := b.ops
	if x.Op != "" {
		names = []string{x.Op}
	}
	ops := make([]*opdef.Op, len(names))
	for i, name := range names {
		ops[i] = b.op(name)
	}
	return ops
}

// ready starts a caller, whose files are sound now.
func (b *Sandbox) ready(ctx context.Context, caller string) error {
	if err := b.open(ctx, calls.BackendName, caller); err != nil {
		return err
	}
	b.runner.Env.Chain = nil // its process would have to start again for each mutant, and tells nothing that others do not
	return nil
}

// restart ends the process of a caller, and starts another that sees the files as they are now.
func (b *Sandbox) restart(ctx context.Context, caller string) error {
	for _, r := range b.pool.Debug {
		_ = r.Worker.Close() // it starts with its next call
	}
	for _, r := range b.pool.Callers {
		if r.CallerName == caller {
			_ = r.Worker.Close() // processes with mutants may end as they like
			return r.Start(ctx)
		}
	}
	return nil
}

// edit plants mutants into the files of the copy, or takes them out.
func (b *Sandbox) edit(mutants []*mutate.Mutant, planted bool) error {
	byFile := map[string][]*mutate.Mutant{}
	for _, x := range mutants {
		byFile[x.File] = append(byFile[x.File], x)
	}
	for file, list := range byFile {
		path := filepath.Join(b.dir, filepath.FromSlash(file))
		if b.originals[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.originals[path] = string(text)
		}
		text := b.originals[path]
		if planted {
			text = mutate.Edit(text, list)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
