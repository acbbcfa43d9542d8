package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/cmd/opcast/internal/runner"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build/predict"
	"github.com/opcast/opcast/internal/build/sass"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// predictFlags are the choices of the command line.
type predictFlags struct {
	python, gpu, kernel   string
	measured, file        string
	noBuild, json, detail bool
}

const predictLong = `Build, and predict how long the workloads of the definitions take on a GPU, which need not be there.

A call is made with the library's own code on a device on which nothing runs. It records the launches; the machine code says what
the loops of their kernels do. The prediction is the largest of the times that memory, caches and units of the device need.`

func newPredictCmd(a commands) *cobra.Command {
	var flags predictFlags
	cmd := &cobra.Command{
		Use:   "predict [OP...]",
		Short: "Predict the times of workloads on a GPU from the machine code of their kernels",
		Long:  predictLong,
		RunE: func(cmd *cobra.Command, ops []string) error {
			return a.predict(cmd.Context(), ops, flags)
		},
	}
	app.PythonFlag(cmd, &flags.python)
	set := cmd.Flags()
	set.StringVar(&flags.gpu, "gpu", "h100", "the device: "+predict.ChipNames())
	set.StringVar(&flags.kernel, "kernel", "", "the only kernel that may run")
	set.StringVar(&flags.measured, "measured", "", "show the times of this result of opcast bench next to the predictions")
	set.StringVar(&flags.file, "output", "", "write the predictions into this file, too, as JSON")
	set.BoolVar(&flags.noBuild, "no-build", false, "do not build first: take the objects as they are")
	set.BoolVar(&flags.detail, "launches", false, "show every launch")
	set.BoolVar(&flags.json, "json", false, "print the predictions as JSON")
	return cmd
}

// predictor makes calls on a device on which nothing runs.
type predictor struct {
	commands
	*machineCode
	flags     predictFlags
	chip      predict.Chip
	recorder  *predict.Recorder
	program   string
	functions map[string]*sass.Function
}

func (a commands) predict(ctx context.Context, names []string, flags predictFlags) error {
	chip, known := predict.ChipNamed(flags.gpu)
	if !known {
		return app.Usage("--gpu: expected one of %s, got %q", predict.ChipNames(), flags.gpu)
	}
	measured, err := readMeasured(flags.measured)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, _, err := a.LoadOp(name); err != nil {
			return err
		}
	}
	p := &predictor{commands: a, flags: flags, chip: chip, functions: map[string]*sass.Function{}}
	if p.machineCode, err = a.machineCode(ctx, flags.python, flags.noBuild); err != nil {
		return err
	}
	defer func() { _ = p.Remove() }() // temporary files
	if err := p.begin(ctx); err != nil {
		return err
	}
	table := &predict.Table{GPU: chip.Name, Arch: p.Cubins[0].Arch}
	for _, op := range p.Project.Ops {
		if len(names) > 0 && !slices.Contains(names, op.Name) {
			continue
		}
		if err := p.workloads(ctx, op, table); err != nil {
			return err
		}
	}
	return a.tellPredictions(table, measured, flags)
}

// begin links the recorder, for the machine code that the device would take.
func (p *predictor) begin(ctx context.Context) error {
	if err := p.only("", p.chip.Arch); err != nil {
		return app.ExitError{Code: app.ExitMachine, Err: err}
	}
	chip := p.chip
	chip.Arch = archNumber(p.Cubins[0].Arch) // the library is asked as a device would that has this code
	dir := filepath.Join(p.Project.Dir, "build", "predict")
	parts := predict.Parts{
		Source: backend.Recorder, Objects: p.Objects.Paths, Compiler: p.Objects.Compiler, Link: p.Objects.Link, Stderr: p.Stderr,
	}
	var err error
	if p.recorder, err = predict.NewRecorder(ctx, dir, parts, &chip); err != nil {
		return err
	}
	if err := p.recorder.Know(p.Cubins); err != nil {
		return err
	}
	r := &run{commands: p.commands, project: p.Project, env: p.Env}
	p.program, err = r.program(ctx)
	return err
}

// workloads predicts those of an op.
func (p *predictor) workloads(ctx context.Context, op *opdef.Op, table *predict.Table) error {
	for _, w := range workload.Calls(op) {
		row, err := p.workload(ctx, op, w)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			table.LeftOut = append(table.LeftOut, fmt.Sprintf("%s %s: %s", op.Name, w.Name, strings.SplitN(err.Error(), "\n", 2)[0]))
			continue
		}
		table.Rows = append(table.Rows, *row)
	}
	if len(op.Workloads) == 0 {
		table.LeftOut = append(table.LeftOut, op.Name+": the definition has no workloads")
	}
	return nil
}

func (p *predictor) workload(ctx context.Context, op *opdef.Op, w workload.Call) (*predict.Row, error) {
	flags := runFlags{workload: w.Name, device: "cuda", kernel: p.flags.kernel}
	wanted, err := parseRequest(op, nil, flags)
	if err != nil {
		return nil, err
	}
	wanted.NoData = true
	if op, err = instance(op, &wanted); err != nil {
		return nil, err
	}
	made, err := conformance.NewTrial(op, wanted)
	if err != nil {
		return nil, err
	}
	call, variant, err := p.record(ctx, op, made)
	if err != nil {
		return nil, err
	}
	call.Flops, _ = w.Flops() // 0 where the definition does not say
	if err := p.read(ctx, call); err != nil {
		return nil, err
	}
	row, err := p.chip.Predict(call, p.functions)
	if err != nil {
		return nil, err
	}
	row.Op, row.Workload, row.DType, row.Variant = op.Name, w.Name, made.Case.DTypeNames(), variant
	row.Contents = workload.ContentsDecide(op)
	bytes, err := w.Bytes()
	if err != nil {
		return nil, err
	}
	row.Roofline = min(1, p.chip.LeastTime(bytes, call.Flops, slices.Contains(row.Flags, "tensor"))/row.Time)
	return row, nil
}

// record makes a call and returns what it launched, and the kernel of the definition that took it.
func (p *predictor) record(ctx context.Context, op *opdef.Op, made *conformance.Trial) (*predict.Call, string, error) {
	c := &runner.Call{
		TVMLibrary: p.Env.TVMLibrary, Library: p.recorder.Library, Op: op.Name, Kernel: p.flags.kernel,
		DeviceType: int(tvmffi.Kinds["cuda"]), Hollow: true, Environ: p.recorder.Environ(os.Getenv("LD_LIBRARY_PATH")),
	}
	call := &predict.Call{}
	var err error
	c.Arguments, err = exportArguments(made, func(name string, role runner.Role, array *ndarray.Array) any {
		count := ndarray.Count(array.Shape)
		call.Elements = max(call.Elements, count)
		call.Arrays = append(call.Arrays, predict.Array{
			Bytes: count * ndarray.ItemSize(array.DType), Reads: role == runner.In || role == runner.InOut,
			Written: role == runner.Out || role == runner.InOut,
		})
		return runner.Array{Array: array, Name: name, Role: role}
	})
	if err != nil {
		return nil, "", err
	}
	path, err := c.Write(filepath.Join(p.Project.Dir, "build", "predict"))
	if err == nil {
		err = p.recorder.Begin()
	}
	if err != nil {
		return nil, "", err
	}
	const limit = time.Minute // nothing runs
	told, err := c.Run(ctx, p.program, path, limit)
	if err != nil {
		return nil, "", err
	}
	call.Launches, err = p.recorder.Launches()
	return call, told.Kernel, err
}

// read disassembles the kernels of a call that were not read before.
func (p *predictor) read(ctx context.Context, call *predict.Call) error {
	for _, l := range call.Launches {
		if l.Kernel == "" || p.functions[l.Kernel] != nil {
			continue
		}
		i := slices.IndexFunc(p.Cubins, func(c sass.Cubin) bool { return c.Has(l.Kernel) })
		if i < 0 {
			continue // the prediction says so
		}
		list, err := p.Tools.Functions(ctx, &p.Cubins[i])
		if err != nil {
			return err
		}
		for j := range list {
			p.functions[list[j].Name] = &list[j]
		}
	}
	return nil
}

// readMeasured reads a result, if there is one.
func readMeasured(path string) (*bench.Result, error) {
	if path == "" {
		return nil, nil
	}
	r, err := bench.Read(path)
	if err != nil {
		return nil, app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--measured: %w", err)}
	}
	return r, nil
}

// tellPredictions prints and writes the table.
func (a commands) tellPredictions(table *predict.Table, measured *bench.Result, flags predictFlags) error {
	if flags.file != "" {
		if err := os.WriteFile(flags.file, table.JSON(), 0o644); err != nil {
			return fmt.Errorf("write predictions: %w", err)
		}
	}
	if flags.json {
		return a.PrintJSON(table)
	}
	if err := table.Write(a.Stdout, measured, flags.detail); err != nil {
		return err
	}
	if len(table.Rows) == 0 {
		return app.ExitError{Code: app.ExitFindings, Err: fmt.Errorf("nothing was predicted")}
	}
	return nil
}
