package author

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build/sass"
	"github.com/opcast/opcast/internal/language/opdef"
)

// sassFlags are the choices of the command line.
type sassFlags struct {
	python, arch         string
	noBuild, json, allow bool
}

const sassLong = `Build, read the machine code of the kernels for CUDA, and check the loops in which they spend their time.

Nothing runs, and no GPU is needed. A hot loop must have no generic loads or stores, no calls, no loads of one or two bytes and
no arithmetic on doubles, unless the kernel's source has a line that allows it:

  // sass: allows fp64, call in RowsKernel: rows near the end of float's range are computed in double

With names of ops, a table shows the hot loops of their kernels.`

func newSassCmd(a commands) *cobra.Command {
	var flags sassFlags
	cmd := &cobra.Command{
		Use:   "sass [OP...]",
		Short: "Check the machine code of kernels for CUDA: slow instructions in hot loops",
		Long:  sassLong,
		RunE: func(cmd *cobra.Command, ops []string) error {
			return a.sass(cmd.Context(), ops, flags)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	cmd.Flags().StringVar(&flags.arch, "arch", "", "read the code for this architecture, such as sm_90 (default the newest in the library)")
	cmd.Flags().BoolVar(&flags.noBuild, "no-build", false, "do not build first: take the objects as they are")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print kernels and their loops as JSON")
	cmd.Flags().BoolVar(&flags.allow, "allow", false, "write the lines that allow what is found into the sources, and remove those for nothing")
	cmd.MarkFlagsMutuallyExclusive("json", "allow")
	return cmd
}

// newest is above every architecture.
const newest = 1 << 20

func (a commands) sass(ctx context.Context, names []string, flags sassFlags) error {
	var ops []*opdef.Op
	for _, name := range names {
		_, op, err := a.LoadOp(name)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	m, err := a.machineCode(ctx, flags.python, flags.noBuild)
	if err != nil {
		return err
	}
	defer func() { _ = m.Remove() }() // temporary files
	if err := m.only(flags.arch, newest); err != nil {
		return err
	}
	texts, err := m.sources(ops)
	if err != nil {
		return err
	}
	m.Cubins = slices.DeleteFunc(m.Cubins, func(c sass.Cubin) bool { _, chosen := texts[c.Source]; return !chosen })
	list, err := m.disassemble(ctx, m.Cubins)
	if err != nil {
		return err
	}
	if flags.json {
		return a.PrintJSON(list)
	}
	if len(names) > 0 {
		if err := a.loopTable(list); err != nil {
			return err
		}
	}
	if flags.allow {
		return a.allow(m.Project.Dir, list, texts)
	}
	return a.judgeLoops(list, texts)
}

// sources are the texts of the sources that nvcc compiles and that ops' authors wrote; of some ops, those that include their headers.
func (m *machineCode) sources(ops []*opdef.Op) (map[string]string, error) {
	texts := map[string]string{}
	for _, source := range m.Objects.Sources {
		path := filepath.Join(m.Project.Dir, filepath.FromSlash(source))
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		includes := func(op *opdef.Op) bool {
			return regexp.MustCompile(`(?m)^\s*#\s*include\s*"` + regexp.QuoteMeta(op.Name) + `\.gen\.h"`).Match(text)
		}
		if len(ops) == 0 || slices.ContainsFunc(ops, includes) {
			texts[source] = string(text)
		}
	}
	return texts, nil
}

// disassemble reads cubins, several at a time.
func (m *machineCode) disassemble(ctx context.Context, cubins []sass.Cubin) ([]sass.Function, error) {
	parts, errs := make([][]sass.Function, len(cubins)), make([]error, len(cubins))
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for i := range cubins {
		group.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; group.Done() }()
			parts[i], errs[i] = m.Tools.Functions(ctx, &cubins[i])
		}()
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(parts...), nil
}

// loopTable has a line for each hot loop.
func (a commands) loopTable(list []sass.Function) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "arch\tregisters\tshared\tspills\tloop\tinstructions\tmemory\tcalls\tfp64\txu\ttensor\tsource\tkernel")
	for i := range list {
		f := &list[i]
		for _, l := range f.HotLoops() {
			m := &l.All
			place := fmt.Sprintf("%x-%x", l.Begin, l.End)
			if l.Depth == 0 {
				place = "none"
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", f.Arch, f.Registers, f.Shared, f.All.Spills, place,
				m.Instructions, counts(m.Memory), len(m.Calls), m.FP64, m.XU, m.Tensor, f.Source, f.Short())
		}
	}
	return w.Flush()
}

// counts writes "4×LDG.128,2×STG.128".
func counts(m map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		words = append(words, fmt.Sprintf("%d×%s", m[name], name))
	}
	if words == nil {
		return "-"
	}
	return strings.Join(words, ",")
}

// judgeLoops prints what hot loops must not have.
func (a commands) judgeLoops(list []sass.Function, texts map[string]string) error {
	exceptions, err := exceptionsOf(texts)
	if err != nil {
		return err
	}
	judged := sass.Judge(sass.Check(list), exceptions)
	for _, f := range judged.Forbidden {
		fmt.Fprintln(a.Stdout, f)
	}
	for _, text := range judged.Stale {
		fmt.Fprintln(a.Stdout, text)
	}
	fmt.Fprintf(a.Stdout, "%s of %s: %d forbidden in hot loops, %d allowed, %s\n", app.Count(len(list), "kernel"),
		app.Count(len(texts), "source"), len(judged.Forbidden), len(judged.Allowed), app.Count(len(judged.Stale), "exception")+" for nothing")
	if len(judged.Forbidden)+len(judged.Stale) > 0 {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

func exceptionsOf(texts map[string]string) (map[string][]sass.Exception, error) {
	all := map[string][]sass.Exception{}
	for _, source := range slices.Sorted(maps.Keys(texts)) {
		list, err := sass.Exceptions(source, texts[source])
		if err != nil {
			return nil, err
		}
		all[source] = list
	}
	return all, nil
}

// allow writes exceptions into the sources.
func (a commands) allow(dir string, list []sass.Function, texts map[string]string) error {
	findings := sass.Check(list)
	for _, source := range slices.Sorted(maps.Keys(texts)) {
		mine := slices.DeleteFunc(slices.Clone(findings), func(f sass.Finding) bool { return f.Source != source })
		text, err := sass.Allow(source, texts[source], mine)
		if err != nil {
			return err
		}
		if text == texts[source] {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(source)), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write source: %w", err)
		}
		fmt.Fprintln(a.Stdout, "wrote "+source)
	}
	return nil
}
