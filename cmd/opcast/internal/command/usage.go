package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
)

// printUsages prints what the CUDA compiler says of an op's kernels. It runs none of them.
func (a *app) printUsages(ctx context.Context, name, python string) error {
	lock, err := build.LockProject(ctx, a.dir, a.stderr)
	if err != nil {
		return err
	}
	defer lock.Release()
	p, op, err := a.loadOp(name)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(op.KernelList(), func(k opdef.Kernel) bool { return k.Device == "cuda" }) {
		return usage("--ptxas: %s has no kernel for cuda", name)
	}
	env, err := a.environment(ctx, python, p.Dir)
	if err != nil {
		return err
	}
	if _, err := a.generate(p); err != nil {
		return err
	}
	o := build.Options{Project: p, Env: env, Runtime: backend.FS, Lock: lock, Getenv: os.Getenv, Log: a.stderr}
	list, err := build.Usages(ctx, o, name+".gen.h")
	if err != nil {
		return machineError(err)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "arch\tregisters\tlocal\tspilled\tshared\tinstructions\tsource\tkernel")
	names := readable(ctx, list)
	for i, u := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", u.Arch, u.Registers, u.Local, u.SpillStores+u.SpillLoads, u.Shared,
			u.Instructions, u.Source, names[i])
	}
	return w.Flush()
}

// readable are the names of the kernels as their authors know them, if the compiler's c++filt is there.
func readable(ctx context.Context, list []build.Usage) []string {
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
