package run

import (
	"cmp"
	"os"
	"strings"

	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/system/stacks"
)

// newWorker makes a worker of the session, with the deadlines that the options ask for.
func (s *Session) newWorker(config rpc.Config) *rpc.Worker {
	config.CallDeadline = worker.LongCall * cmp.Or(s.Options.Timeout, worker.CallLimit)
	if s.Options.Project != nil && s.library() != "" {
		config.Stacks = s.stacks
	}
	w := rpc.New(config)
	s.workers = append(s.workers, w)
	return w
}

// stacks says where the threads of a process are inside of the library under test.
func (s *Session) stacks(pid int) string {
	found, err := stacks.Of(pid, s.library())
	if err != nil {
		return "  " + err.Error()
	}
	return strings.Join(found, "\n  and\n")
}

// environ is the environment of the processes that call. With an emulated device they find its driver before a GPU's.
func (s *Session) environ() []string {
	environ := os.Environ()
	if s.Options.Driver == "" {
		return environ
	}
	const variable = "LD_LIBRARY_PATH="
	path := s.Options.Driver
	for _, v := range environ {
		if before, ok := strings.CutPrefix(v, variable); ok && before != "" {
			path += string(os.PathListSeparator) + before
		}
	}
	return append(environ, variable+path)
}
