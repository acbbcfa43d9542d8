package native

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// randomRequest asks the process that calls from Go for random calls of an op.
type randomRequest struct {
	Op          string
	Seed        uint64
	From, Count int64
}

// randomServer makes random calls in the process that calls from Go.
type randomServer struct {
	caller inProcess
	// dir is that of the project, device the one under test.
	dir, device string
	project     *opdef.Project
	// now is the randomizer of the last request, whose valid call may serve the next one, too.
	now *random.Generator
	// reached is the memory that tells the suite which call is being made.
	reached []byte
}

// maxTold bounds the failures of a batch.
const maxTold = 8

// answer makes the calls of one request. Each leaves its number behind before it begins.
func (s *randomServer) answer(ctx context.Context, request randomRequest) (*calls.RandomTally, error) {
	if err := s.prepare(ctx, request); err != nil {
		return nil, err
	}
	tally := &calls.RandomTally{Raised: map[string]int64{}}
	for i := request.From; i < request.From+request.Count; i++ {
		if s.reached != nil {
			binary.LittleEndian.PutUint64(s.reached, uint64(i)+1) // zero stands for none
		}
		s.now.T.Rows = nil
		if err := s.now.Make(i, tally); err != nil {
			return nil, err
		}
		if failures := s.now.T.CurrentRow().Failures; len(failures) > 0 && len(tally.Failed) < maxTold {
			tally.Failed, tally.Texts = append(tally.Failed, i), append(tally.Texts, strings.Join(failures, "\n"))
		}
	}
	return tally, nil
}

// prepare loads the definitions once, and the op of the request unless it is that of the last one.
func (s *randomServer) prepare(ctx context.Context, request randomRequest) error {
	if s.project == nil {
		p, findings, err := load.Load(s.dir)
		if err != nil || len(findings) > 0 {
			return fmt.Errorf("native caller: load %s: %w", s.dir, errors.Join(err, errors.New(fmt.Sprint(findings))))
		}
		s.project = p
	}
	if s.now != nil && s.now.T.Op.Name == request.Op && s.now.Seed == request.Seed {
		return nil
	}
	i := slices.IndexFunc(s.project.Ops, func(op *opdef.Op) bool { return op.Name == request.Op })
	if i < 0 {
		return fmt.Errorf("native caller: no op %q in %s", request.Op, s.dir)
	}
	t := &check.T{
		Ctx: ctx, Env: &check.Environment{Project: s.project, Device: s.device}, Op: cases.Tested(s.project.Ops[i]), Caller: &s.caller,
	}
	var err error
	s.now, err = random.NewGenerator(t, request.Seed)
	return err
}

// SharedPage is a page of memory that two processes see, over a file.
func SharedPage(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	size := os.Getpagesize()
	err = f.Truncate(int64(size))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory: %w", err), f.Close())
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		err = fmt.Errorf("shared memory: %w", err)
	}
	return page, errors.Join(err, f.Close())
}
