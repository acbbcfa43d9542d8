package author

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/flashinfer/export"
	"github.com/opcast/opcast/internal/language/opdef"
)

const exportLong = `Print the definition of an op as FlashInfer Trace has them, in JSON.

  opcast export flashinfer gemm N=4096 K=4096 T=bf16 > gemm_n4096_k4096.json

Sizes that are given become constant axes, the others are chosen by calls. A dtype variable stands for the first of its dtypes if none
is given. Attributes that are texts have their defaults, or what is given. The reference is the op's own, in float64. If the op came
from such a file, that file is printed.`

func newExportCmd(a commands) *cobra.Command {
	workloads := false
	cmd := &cobra.Command{
		Use:   "export flashinfer OP [SIZE=NUMBER...] [VARIABLE=DTYPE...] [ATTR=TEXT...]",
		Short: "Print an op as a definition of another project",
		Long:  exportLong,
		Args:  cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] != "flashinfer" {
				return app.Usage("export: expected flashinfer, got %q", args[0])
			}
			return a.export(args[1], args[2:], workloads)
		},
	}
	cmd.Flags().BoolVar(&workloads, "workloads", false, "print the op's workloads with these constants and dtypes instead, one per line")
	return cmd
}

func (a commands) export(name string, words []string, workloads bool) error {
	p, op, err := a.LoadOp(name)
	if err != nil {
		return err
	}
	if strings.HasSuffix(op.ReferenceFile, flashinfer.Ending) && !workloads {
		return a.exportSource(p, op, words)
	}
	chosen, err := fixed(op, words)
	if err != nil {
		return err
	}
	d, err := export.Export(op, chosen)
	if err != nil {
		return app.ExitError{Code: app.ExitFindings, Err: err}
	}
	text, err := d.JSON()
	if workloads {
		text, err = d.Workloads()
	}
	if err == nil {
		_, err = a.Stdout.Write(text)
	}
	return err
}

// exportSource prints the definition that an op comes from. It has to be the same still.
func (a commands) exportSource(p *opdef.Project, op *opdef.Op, words []string) error {
	if len(words) > 0 {
		return app.Usage("export: %s is printed as %s says, which fixes its sizes and dtypes", op.Name, op.ReferenceFile)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(op.ReferenceFile)))
	if err != nil {
		return fmt.Errorf("read definition: %w", err)
	}
	d, err := flashinfer.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", op.ReferenceFile, err)
	}
	if difference := d.Differs(op); difference != "" {
		return app.ExitError{Code: app.ExitFindings, Err: fmt.Errorf("%s says something else than %s: %s", op.File, op.ReferenceFile, difference)}
	}
	_, err = a.Stdout.Write(text)
	return err
}

// fixed reads the sizes, dtypes and texts that somebody gave.
func fixed(op *opdef.Op, words []string) (export.Fixed, error) {
	out := export.Fixed{Sizes: map[string]int64{}, DTypes: map[string]string{}, Texts: map[string]string{}}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if err := fix(op, name, value, out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// fix reads one of them.
func fix(op *opdef.Op, name, value string, out export.Fixed) error {
	if i := slices.IndexFunc(op.DTypes, func(v opdef.DTypeVar) bool { return v.Name == name }); i >= 0 {
		d, known := dtype.LookupAny(value)
		if !known || !slices.Contains(op.DTypes[i].OneOf, d.Short) {
			return app.Usage("%s: %s: expected one of %s, got %q", op.Name, name, strings.Join(op.DTypes[i].OneOf, ", "), value)
		}
		out.DTypes[name] = d.Short
		return nil
	}
	if i := slices.IndexFunc(op.Attrs, func(a opdef.Attr) bool { return a.Name == name && a.Type == "str" }); i >= 0 {
		if list := op.Attrs[i].OneOf; len(list) > 0 && !slices.Contains(list, value) {
			return app.Usage("%s: %s: expected one of %s, got %q", op.Name, name, strings.Join(list, ", "), value)
		}
		out.Texts[name] = value
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case !slices.ContainsFunc(op.Inputs, func(in opdef.Arg) bool { return in.Has(name) }):
		return app.Usage("%s: expected a size, a dtype variable or an attribute that is a text, got %q", op.Name, name)
	case err != nil || n < 0:
		return app.Usage("%s: %s: expected a size, got %q", op.Name, name, value)
	}
	out.Sizes[name] = n
	return nil
}
