package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/opcast/opcast/internal/rpc"
)

// wireTeam is a request for calls at once; each has its blobs in one list.
type wireTeam struct {
	Do     string       `json:"do"`
	Calls  []wireMember `json:"calls"`
	Repeat int          `json:"repeat"`
}

// wireMember is one of the calls, with the numbers of its first blob and of the one after its last.
type wireMember struct {
	Call wireCall `json:"call"`
	From int      `json:"from"`
	To   int      `json:"to"`
}

// wireAnswers are the different answers of all threads, with the numbers of their blobs.
type wireAnswers struct {
	Answers []wireAnswer `json:"answers"`
}

type wireAnswer struct {
	Thread int             `json:"thread"`
	Body   json.RawMessage `json:"body"`
	Blobs  int             `json:"blobs"`
}

// Together makes the calls at once.
func (r *remote) Together(ctx context.Context, calls []*Call, repeat int) ([][]*Result, error) {
	request, blobs := wireTeam{Do: doThreads, Repeat: repeat}, [][]byte(nil)
	for _, call := range calls {
		w, more := pack(r.name, call)
		request.Calls = append(request.Calls, wireMember{Call: w, From: len(blobs), To: len(blobs) + len(more)})
		blobs = append(blobs, more...)
	}
	m, err := r.worker.Call(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	var told wireAnswers
	if err := json.Unmarshal(m.Header, &told); err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	results := make([][]*Result, len(calls))
	for _, a := range told.Answers {
		if a.Thread < 0 || a.Thread >= len(calls) || a.Blobs > len(m.Blobs) {
			return nil, fmt.Errorf("read answers: thread %d with %d blobs", a.Thread, a.Blobs)
		}
		one, err := readResult(rpc.Message{Header: a.Body, Blobs: m.Blobs[:a.Blobs]}, calls[a.Thread].tensors())
		if err != nil {
			return nil, err
		}
		results[a.Thread], m.Blobs = append(results[a.Thread], one), m.Blobs[a.Blobs:]
	}
	return results, nil
}

// Child makes a call in a child of the worker.
func (r *remote) Child(ctx context.Context, method string, call *Call) (result *Result, died string, err error) {
	w, blobs := pack(r.name, call)
	m, err := r.worker.Call(ctx, map[string]any{"do": "child", "method": method, "call": w}, blobs)
	if err != nil {
		return nil, "", err
	}
	var end struct{ Died string }
	if err := json.Unmarshal(m.Header, &end); err != nil || end.Died != "" {
		return nil, end.Died, err
	}
	result, err = readResult(m, call.tensors())
	return result, "", err
}

// maxAnswers is how many different answers of a thread are told: one would be right.
const maxAnswers = 3

// team makes calls at once in this process, each in a thread of its own.
func (s *nativeServer) team(request wireTeam, blobs [][]byte) (any, [][]byte, error) {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		told  wireAnswers
		data  [][]byte
		start = make(chan struct{})
	)
	for thread, member := range request.Calls {
		wait.Go(func() {
			<-start
			answers, parts, err := s.member(member, blobs, request.Repeat)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			for i, body := range answers {
				told.Answers = append(told.Answers, wireAnswer{thread, body, len(parts[i])})
				data = append(data, parts[i]...)
			}
		})
	}
	close(start)
	wait.Wait()
	return told, data, errors.Join(errs...)
}

// member makes one call over and over and keeps the answers that differ.
func (s *nativeServer) member(m wireMember, blobs [][]byte, repeat int) (answers []json.RawMessage, parts [][][]byte, err error) {
	text, err := json.Marshal(m.Call)
	if err != nil {
		return nil, nil, fmt.Errorf("native caller: %w", err)
	}
	var known []string
	for range repeat {
		w, err := readWire(text)
		if err != nil {
			return nil, nil, err
		}
		n := &nativeCall{library: s.library, foreign: s.foreign, wire: w, arrays: map[int]*nativeArray{}}
		for _, blob := range blobs[m.From:m.To] {
			n.blobs = append(n.blobs, slices.Clone(blob))
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
		Error       *CallError
	}
	if json.Unmarshal(header, &w) != nil {
		return string(header)
	}
	return fmt.Sprint(w.Unsupported, w.Error)
}
