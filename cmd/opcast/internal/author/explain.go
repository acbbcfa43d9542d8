package author

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
)

const explainLong = `Say what the code of a diagnostic means, why such a thing is refused, and how to write it instead:

  opcast explain E015

Or say how an op is called, and what it does under grad, vmap and sharding.

With the shape of an input, say of every kernel whether it takes such a call, and if not, why:

  opcast explain product --shape a=128x64:f16 b=32x64`

func newExplainCmd(a commands) *cobra.Command {
	asJSON, all := false, false
	var flags runFlags
	var shapes []string
	cmd := &cobra.Command{
		Use:   "explain {CODE | OP [--shape INPUT=SHAPE[:DTYPE]] [INPUT=SHAPE[:DTYPE]...] [ATTR=VALUE...]}",
		Short: "Say what a diagnostic means; or how an op is called and transformed, and which kernels take a call",
		Long:  explainLong,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all:
				return a.explainCodes()
			case a.meansCode(args[0]):
				return a.explainCode(args, asJSON)
			case asJSON && len(shapes)+len(args) > 1:
				return app.Usage("--json goes without the words of a call")
			}
			return a.explainOp(cmd.Context(), args[0], slices.Concat(shapes, args[1:]), flags, asJSON)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	cmd.Flags().StringVar(&flags.device, "device", "cpu", "where the call would run: cpu, cuda or rocm")
	cmd.Flags().StringArrayVar(&shapes, "shape", nil, "shape and dtype of an input, for example x=128x64:bf16")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.Flags().BoolVar(&all, "all", false, "explain every code, as a page in Markdown")
	return cmd
}

// explainOp explains an op, or with the words of a call, what its kernels say of it.
func (a commands) explainOp(ctx context.Context, name string, words []string, flags runFlags, asJSON bool) error {
	p, op, err := a.LoadOp(name)
	switch {
	case err != nil:
		return err
	case len(words) > 0:
		return a.explainCall(ctx, p, op, words, flags)
	case asJSON:
		return a.explainJSON(op)
	}
	return a.explain(op)
}

// explain prints a table of topics.
func (a commands) explain(op *opdef.Op) error {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n%s\n\n", gen.Signature(op), op.Doc)
	for _, arg := range slices.Concat(op.Inputs, op.Outputs) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", arg.Name, arg.Type.Text, strings.Join(argNotes(op, arg), ", "))
	}
	for _, v := range op.DTypes {
		fmt.Fprintf(w, "%s\t%s\n", v.Name, rule.Or(rule.Long(v.OneOf)))
	}
	fmt.Fprintln(w)
	for _, f := range transform.Facts(op) {
		fmt.Fprintf(w, "%s\t%s\n", f.Topic, transform.Plain(f.Text))
	}
	for _, k := range op.KernelList() {
		for _, device := range k.Devices {
			fmt.Fprintf(w, "kernel\t%s on %s\n", k.Name, device)
		}
	}
	fmt.Fprintf(w, "definition\t%s\n", op.File)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.Stdout, trailingSpace.ReplaceAllString(text.String(), ""))
	return err
}

// trailingSpace is what the table leaves behind an empty last cell.
var trailingSpace = regexp.MustCompile(`(?m) +$`)

func argNotes(op *opdef.Op, arg opdef.Arg) []string {
	var notes []string
	for _, note := range []struct {
		holds bool
		text  string
	}{
		{arg.List && arg.Per == "", "a list"}, {arg.Per != "", "a list as long as " + arg.Per},
		{arg.Optional, "optional"}, {arg.Mutated, "overwritten"}, {arg.Saved, "saved for the gradient"},
		{op.Switch(&arg) != nil, "if " + arg.PresentIf},
		{arg.PresentIf != "" && op.Switch(&arg) == nil, "with " + arg.PresentIf},
		{arg.Packs != "", "packs " + arg.Packs},
	} {
		if note.holds {
			notes = append(notes, note.text)
		}
	}
	return notes
}

// explained is an op in JSON. Lists are never null.
type explained struct {
	Name       string            `json:"name"`
	Kind       int               `json:"kind"`
	Doc        string            `json:"doc"`
	Call       string            `json:"call"`
	Definition string            `json:"definition"`
	Gradient   string            `json:"gradient,omitempty"`
	GradientOf string            `json:"gradient_of,omitempty"`
	Tangent    string            `json:"tangent,omitempty"`
	TangentOf  string            `json:"tangent_of,omitempty"`
	Diff       []string          `json:"differentiable"`
	Saved      []string          `json:"saved"`
	Mutated    []string          `json:"mutated"`
	VMap       []transform.Merge `json:"vmap"`
	Sharding   []explainedFactor `json:"sharding"`
	Copies     []explainedCopy   `json:"copies"`
	Kernels    []explainedKernel `json:"kernels"`
	Text       map[string]string `json:"text"`
}

type explainedFactor struct {
	Dim    string   `json:"dim"`
	Role   string   `json:"role"`
	Summed []string `json:"summed,omitempty"`
}

// explainedCopy says that an input is copied if it is not "contiguous", or not in its "last dimension", or if its address is no
// multiple of Align.
type explainedCopy struct {
	Input  string `json:"input"`
	Unless string `json:"unless,omitempty"`
	Align  int64  `json:"align"`
}

type explainedKernel struct {
	Name   string `json:"name"`
	Device string `json:"device"`
}

func (a commands) explainJSON(op *opdef.Op) error {
	e := explained{
		Name: op.Name, Kind: op.Kind, Doc: op.Doc, Call: gen.Signature(op), Definition: op.File,
		Diff: append([]string{}, transform.Differentiable(op)...), Saved: opdef.ArgNames(op.Saved()), Mutated: opdef.ArgNames(op.Mutated()),
		VMap: []transform.Merge{}, Sharding: []explainedFactor{}, Copies: []explainedCopy{}, Text: map[string]string{},
	}
	for _, link := range []struct {
		to   *opdef.Op
		name *string
	}{{op.Gradient, &e.Gradient}, {op.GradientOf, &e.GradientOf}, {op.Tangent, &e.Tangent}, {op.TangentOf, &e.TangentOf}} {
		if link.to != nil {
			*link.name = link.to.Name
		}
	}
	for _, m := range transform.Merges(op) {
		e.VMap = append(e.VMap, transform.Merge{Dim: m.Dim, Inputs: append([]string{}, m.Inputs...)})
	}
	for _, f := range transform.Factors(op) {
		e.Sharding = append(e.Sharding, explainedFactor{f.Dim, f.Role.String(), f.Partial})
	}
	for _, in := range transform.Copies(op) {
		unless := map[string]string{"": "contiguous", "last": "last dimension"}[in.Stride]
		e.Copies = append(e.Copies, explainedCopy{in.Name, unless, op.Alignment(&in)})
	}
	for _, k := range op.KernelList() {
		for _, device := range k.Devices {
			e.Kernels = append(e.Kernels, explainedKernel{k.Name, device})
		}
	}
	for _, f := range transform.Facts(op) {
		e.Text[f.Topic] = transform.Plain(f.Text)
	}
	return a.PrintJSON(e)
}
