package rpc

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	var in, out bytes.Buffer
	for _, blob := range []string{"abc", ""} {
		if err := writeFrame(&in, map[string]string{"do": "echo"}, [][]byte{[]byte(blob)}); err != nil {
			t.Fatal(err)
		}
	}
	err := Serve(&in, &out, "hello", func(m Message) (any, [][]byte, error) { return m.Header, m.Blobs, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ header, blob string }{{`"hello"`, ""}, {`{"do":"echo"}`, "abc"}, {`{"do":"echo"}`, ""}} {
		m, err := readFrame(&out)
		if err != nil || string(m.Header) != want.header || len(m.Blobs) > 0 && string(m.Blobs[0]) != want.blob {
			t.Errorf("got %s %q %v, want %s %q", m.Header, m.Blobs, err, want.header, want.blob)
		}
	}
}

func TestServeStops(t *testing.T) {
	broken := errors.New("broken")
	var in bytes.Buffer
	if err := writeFrame(&in, 1, nil); err != nil {
		t.Fatal(err)
	}
	refuse := func(Message) (any, [][]byte, error) { return nil, nil, broken }
	if err := Serve(&in, &bytes.Buffer{}, 0, refuse); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if err := Serve(strings.NewReader("cut"), &bytes.Buffer{}, 0, refuse); err == nil {
		t.Error("half a frame is no end")
	}
}
