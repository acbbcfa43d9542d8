package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/opcast/opcast/conformance/internal/calls"
)

// maxAnswers is how many different answers of a thread are told: one would be right.
const maxAnswers = 3

// answerConcurrent makes calls at once in this process, each in a thread of its own.
func (s *server) answerConcurrent(request calls.ConcurrentRequest, blobs [][]byte) (any, [][]byte, error) {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		told  calls.ConcurrentAnswers
		data  [][]byte
		start = make(chan struct{})
	)
	for thread, member := range request.Calls {
		wait.Go(func() {
			<-start
			answers, parts, err := s.repeatCall(member, blobs, request.Repeat)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			for i, body := range answers {
				told.Answers = append(told.Answers, calls.ThreadAnswer{Thread: thread, Body: body, Blobs: len(parts[i])})
				data = append(data, parts[i]...)
			}
		})
	}
	close(start)
	wait.Wait()
	return told, data, errors.Join(errs...)
}

// repeatCall makes one call over and over and keeps the answers that differ.
func (s *server) repeatCall(m calls.ConcurrentCall, blobs [][]byte, repeat int) (answers []json.RawMessage, parts [][][]byte, err error) {
	text, err := json.Marshal(m.Call)
	if err != nil {
		return nil, nil, fmt.Errorf("native caller: %w", err)
	}
	var known []string
	for range repeat {
		w, err := ReadWire(text)
		if err != nil {
			return nil, nil, err
		}
		n := &Call{library: s.library, foreign: s.foreign, Wire: w, Arrays: map[int]*Array{}, memory: s.driver.Mirror(), device: s.device}
		for _, blob := range blobs[m.From:m.To] {
			n.Blobs = append(n.Blobs, placed(blob))
		}
		body, data, err := n.answer()
		if err != nil {
			return nil, nil, err
		}
		header, err := json.Marshal(body)
		if err != nil {
			return nil, nil, fmt.Errorf("native caller: %w", err)
		}
		essence := fmt.Sprint(data, errorOf(header))
		if !slices.Contains(known, essence) && len(known) < maxAnswers {
			known, answers, parts = append(known, essence), append(answers, header), append(parts, data)
		}
	}
	return answers, parts, nil
}

// errorOf is what an answer says about an error, apart from addresses and counts that may differ.
func errorOf(header []byte) string {
	var w struct {
		Unsupported string
		Error       *calls.CallError
	}
	if json.Unmarshal(header, &w) != nil {
		return string(header)
	}
	return fmt.Sprint(w.Unsupported, w.Error)
}
