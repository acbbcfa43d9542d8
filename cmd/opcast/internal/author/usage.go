package author

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/language/opdef"
)

// usageDevices are the devices of the flags that ask what kernels take.
var usageDevices = map[string]string{"ptxas": "cuda", "gfx": "rocm"}

// printUsages prints what an op's kernels take of the GPUs of a device. It runs none of them.
func (a commands) printUsages(ctx context.Context, args []string, flag, device, python string) error {
	name := args[0]
	if len(args) > 1 {
		return app.Usage("--%s: %s: no call is made, so it has no arguments", flag, args[1])
	}
	lock, err := build.LockProject(ctx, a.Dir, a.Stderr)
	if err != nil {
		return err
	}
	defer lock.Release()
	p, op, err := a.LoadOp(name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(op.KernelList(), func(k opdef.Kernel) bool { return k.On(device) }) {
		return app.Usage("--%s: %s has no kernel for %s", flag, name, device)
	}
	env, err := a.Environment(ctx, python, p.Dir)
	if err != nil {
		return err
	}
	if _, err := a.Generate(p); err != nil {
		return err
	}
	o := build.Options{Project: p, Env: env, Runtime: backend.FS, Lock: lock, Getenv: os.Getenv, Log: a.Stderr}
	list, err := build.Usages(ctx, o, device, name+".gen.h")
	if err != nil {
		return app.MachineError(err)
	}
	return a.usageTable(device, list, readable(ctx, list))
}

// usageTable has a line for each kernel function.
func (a commands) usageTable(device string, list []compiler.Usage, names []string) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	if device == "rocm" {
		fmt.Fprintln(w, "arch\tregisters\tscalars\tlocal\tspilled\tshared\tbytes\tsource\tkernel")
	} else {
		fmt.Fprintln(w, "arch\tregisters\tlocal\tspilled\tshared\tinstructions\tsource\tkernel")
	}
	for i, u := range list {
		numbers := []any{u.Arch, u.Registers, u.Local, u.SpillStores + u.SpillLoads, u.Shared, u.Instructions, u.Source, names[i]}
		if device == "rocm" {
			numbers = []any{u.Arch, u.Registers, u.Scalars, u.Local, u.Spilled, u.Shared, u.Bytes, u.Source, names[i]}
		}
		fmt.Fprintf(w, strings.Repeat("%v\t", len(numbers)-1)+"%v\n", numbers...)
	}
	return w.Flush()
}

// readable are the names of the kernels as their authors know them, if the compiler's c++filt is there.
func readable(ctx context.Context, list []compiler.Usage) []string {
	mangled := make([]string, len(list))
	for i, u := range list {
		mangled[i] = u.Kernel
	}
	cmd := exec.CommandContext(ctx, "c++filt", "-p")
	cmd.Stdin = strings.NewReader(strings.Join(mangled, "\n"))
	out, err := cmd.Output()
	names := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(names) != len(mangled) {
		return mangled
	}
	for i, name := range names {
		names[i] = strings.TrimPrefix(strings.ReplaceAll(name, "(anonymous namespace)::", ""), "void ")
	}
	return names
}
