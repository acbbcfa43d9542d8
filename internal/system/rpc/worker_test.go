package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/system/rpc"
)

const role = "OPCAST_TEST_WORKER"

// memoryLimit is far more than a worker of these tests needs, and reached soon by one that eats.
const memoryLimit = 512 << 20

// TestMain lets the test binary play the worker.
func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		play()
		return
	}
	os.Exit(m.Run())
}

// diary names the file to which a worker adds a line when it starts, and in which one that finds "broken" ends.
const diary = "OPCAST_TEST_DIARY"

// eaten is memory that a worker does not give back.
var eaten [][]byte

// play greets, then does what each request says.
func play() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "stack of the worker")
	}()
	in := bufio.NewReader(os.Stdin)
	if path := os.Getenv(diary); path != "" {
		text, _ := os.ReadFile(path)
		_ = os.WriteFile(path, append(text, "started\n"...), 0o644)
		if strings.Contains(string(text), "broken\n") {
			fmt.Fprintln(os.Stderr, "the reason")
			os.Exit(9)
		}
	}
	answer("ready", nil)
	for {
		do, blobs, err := receive(in)
		if err != nil {
			return
		}
		switch do {
		case "echo":
			answer("echoed", blobs)
		case "exit":
			fmt.Fprintln(os.Stderr, "last words")
			os.Exit(7)
		case "leave":
			child := exec.Command("sleep", "3")
			child.Stderr = os.Stderr
			if err := child.Start(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			answer("left", nil)
		case "die":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "hang":
			select {}
		case "eat":
			for ; ; time.Sleep(time.Millisecond) {
				eaten = append(eaten, bytes.Repeat([]byte{1}, 16<<20))
			}
		case "noise":
			fmt.Println("a library prints to stdout")
		}
	}
}

func receive(in io.Reader) (do string, blobs [][]byte, err error) {
	var size [8]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return "", nil, err
	}
	text := make([]byte, binary.LittleEndian.Uint64(size[:]))
	if _, err := io.ReadFull(in, text); err != nil {
		return "", nil, err
	}
	var header struct {
		Blobs []int
		Body  string
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return "", nil, err
	}
	for _, n := range header.Blobs {
		blob := make([]byte, n)
		if _, err := io.ReadFull(in, blob); err != nil {
			return "", nil, err
		}
		blobs = append(blobs, blob)
	}
	return header.Body, blobs, nil
}

func answer(body string, blobs [][]byte) {
	lengths := []int{}
	for _, blob := range blobs {
		lengths = append(lengths, len(blob))
	}
	text, _ := json.Marshal(map[string]any{"body": body, "blobs": lengths})
	os.Stdout.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	os.Stdout.Write(text)
	for _, blob := range blobs {
		os.Stdout.Write(blob)
	}
}

func newWorker(t *testing.T, deadline time.Duration) *rpc.Worker {
	t.Helper()
	w := rpc.New(rpc.Config{
		Command: []string{os.Args[0]}, Env: append(os.Environ(), role+"=1"),
		StartDeadline: time.Minute, CallDeadline: deadline, Memory: memoryLimit,
		Stacks: func(pid int) string { return fmt.Sprintf("native stack of %v", pid > 0) },
	})
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// What a worker has started may end a little later.
func TestChildOutlivesWorker(t *testing.T) {
	w := newWorker(t, time.Minute) // which is closed without an error
	if _, err := w.Call(t.Context(), "leave", nil); err != nil {
		t.Fatal(err)
	}
}

func TestCallsShareOneProcess(t *testing.T) {
	w := newWorker(t, time.Minute)
	greeting, err := w.Start(t.Context())
	if err != nil || string(greeting.Header) != `"ready"` {
		t.Fatalf("greeting %s, %v", greeting.Header, err)
	}
	for _, blobs := range [][][]byte{nil, {[]byte("a"), {}, []byte("bc")}, {make([]byte, 1<<20)}} {
		got, err := w.Call(t.Context(), "echo", blobs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(blobs, got.Blobs); diff != "" {
			t.Errorf("blobs (-want +got):\n%s", diff)
		}
	}
	if w.Starts() != 1 {
		t.Errorf("%d processes, want 1", w.Starts())
	}
}

func TestCrashCostsOneCall(t *testing.T) {
	for _, test := range []struct{ do, reason, stderr string }{
		{"exit", "exit status 7", "last words"},
		{"die", "signal: killed", ""},
		{"hang", "no answer within 2s", "stack of the worker"},
		{"noise", "header of", ""},
		{"eat", "at most 512 are allowed", "stack of the worker"},
	} {
		t.Run(test.do, func(t *testing.T) {
			deadline := time.Minute
			if test.do == "hang" {
				deadline = 2 * time.Second
			}
			w := newWorker(t, deadline)
			_, err := w.Call(t.Context(), test.do, nil)
			var crash *rpc.CrashError
			if !errors.As(err, &crash) {
				t.Fatalf("got %v, want a CrashError", err)
			}
			if !strings.Contains(crash.Reason, test.reason) || !strings.Contains(crash.Stderr, test.stderr) {
				t.Errorf("got %q, stderr %q", crash.Reason, crash.Stderr)
			}
			if hangs := test.do == "hang"; crash.Hung != hangs || (crash.Stack == "native stack of true") != hangs {
				t.Errorf("hung: %v, with the stack %q", crash.Hung, crash.Stack)
			}
			if _, err := w.Call(t.Context(), "echo", nil); err != nil {
				t.Errorf("the next call: %v", err)
			}
			if w.Starts() != 2 {
				t.Errorf("%d processes, want 2", w.Starts())
			}
		})
	}
}

// A call may have less time than others.
func TestCallWithin(t *testing.T) {
	w := newWorker(t, time.Hour)
	_, err := w.CallWithin(t.Context(), time.Second, "hang", nil)
	if want := "worker stopped: no answer within 1s\nnative stack of true\n"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

func TestMissingProgram(t *testing.T) {
	w := rpc.New(rpc.Config{Command: []string{"/nonexistent/python"}})
	if _, err := w.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "start worker") {
		t.Errorf("got %v", err)
	}
}

// A process that ends whenever it starts is started a few times, and not for every call of a run. Someone who starts the
// worker anew gets another chance.
func TestBrokenWorker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "diary")
	if err := os.WriteFile(path, []byte("broken\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := rpc.New(rpc.Config{
		Command: []string{os.Args[0]}, Env: append(os.Environ(), role+"=1", diary+"="+path),
		StartDeadline: time.Minute, CallDeadline: time.Minute, Attempts: 3,
	})
	want := "worker stopped: its process ended 3 times in a row while it started, exit status 9"
	for i, stderr := range []string{"\nthe reason\n", "", ""} {
		if _, err := w.Call(t.Context(), "echo", nil); err == nil || err.Error() != want+stderr {
			t.Errorf("call %d: got %q, want %q", i, err, want+stderr)
		}
	}
	text, err := os.ReadFile(path)
	if got := strings.Count(string(text), "started"); err != nil || got != 3 || w.Broken() == nil {
		t.Errorf("started %d times, want 3; broken: %v; %v", got, w.Broken(), err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Start(t.Context()); err != nil || w.Broken() != nil {
		t.Errorf("another start: %v, broken: %v", err, w.Broken())
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Without anyone who waits, no process starts, and one that hangs ends at once.
func TestInterruptedCall(t *testing.T) {
	w := newWorker(t, time.Minute)
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := w.Start(ctx); err != nil {
		t.Fatal(err)
	}
	go cancel(errors.New("interrupted by a test"))
	for range 2 {
		_, err := w.Call(ctx, "hang", nil)
		if err == nil || err.Error() != "worker stopped: interrupted by a test" {
			t.Errorf("got %v", err)
		}
	}
	if w.Starts() != 1 {
		t.Errorf("%d processes, want 1", w.Starts())
	}
}
