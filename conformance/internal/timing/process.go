package timing

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/rpc"
)

// process is a worker with one framework and one number of threads: some frameworks cannot change it, and threads of one that
// wait for work would disturb another.
type process struct {
	*worker.Process
	adaptor string
	threads int
}

// profile is what workers are told that they are for: they prepare no checks, and leave compilers as users have them.
func (r *run) profile() string {
	if r.Rehearse {
		return "rehearsal"
	}
	return "bench"
}

// startProcess starts a process; missing says why there is none.
func (r *run) startProcess(ctx context.Context, adaptor string, threads int) (missing string, err error) {
	p := r.Project
	w, err := r.worker(worker.Config{
		Caller: adaptor + "_caller", Adaptor: adaptor, Paths: p.ImportFolders(p.Manifest.Adaptors...),
		SingleFramework: true, CPUs: threads,
	}, append(slices.Clone(kept), fmt.Sprintf("OMP_NUM_THREADS=%d", threads)))
	if err != nil {
		return "", err
	}
	one := &process{&worker.Process{CallerName: adaptor, Worker: w}, adaptor, threads}
	if err := one.Start(ctx); err != nil {
		return "", err
	}
	if one.Missing != "" {
		return one.Missing, nil
	}
	r.result.Versions["Python"], r.result.Versions[adaptor] = one.Python, one.Version
	r.processes = append(r.processes, one)
	return "", nil
}

// kept is for the C library: it keeps what is freed. Fresh results of some megabytes are else page faults for whoever happens
// to lie at the end of the heap, and ratios vary from 0.2 to 5.
var kept = []string{"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=1099511627776"}

// worker prepares a worker of the run; it is closed with the run.
func (r *run) worker(config worker.Config, environ []string) (*rpc.Worker, error) {
	p := r.Project
	config.Collection, config.Namespace, config.Root = p.Manifest.Name, p.Manifest.Unique(), p.Dir
	config.DTypes, config.Device, config.Profile = worker.DTypes(), r.Device, r.profile()
	started, err := worker.Command(r.Python, r.temp.Path, config)
	if err != nil {
		return nil, err
	}
	started.Env = slices.Concat(r.Environ, environ)
	started.Attempts = 3
	w := rpc.New(started)
	r.workers = append(r.workers, w)
	return w, nil
}

// Machine describes where the run takes place.
func Machine(device string) bench.Machine {
	m := bench.Machine{CPU: runtime.GOARCH, CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Device: device}
	found := worker.Processor() // where the system tells nothing, the architecture says something, too
	if name := found["model name"]; name != "" {
		m.CPU = fmt.Sprintf("%s, family %s, model %s", name, found["cpu family"], found["model"])
	}
	m.GPU = worker.GPU(device)
	return m
}
