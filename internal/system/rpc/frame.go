package rpc

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxHeader and maxBlob bound what a frame may hold, so that stray bytes on the pipe are an error and not an allocation.
const (
	maxHeader = 64 << 20
	maxBlob   = 4 << 30
)

// envelope is the JSON header of a frame.
type envelope struct {
	Blobs []int64         `json:"blobs"`
	Body  json.RawMessage `json:"body"`
}

func encodeHeader(body any, blobs [][]byte) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	lengths := make([]int64, len(blobs))
	for i, blob := range blobs {
		lengths[i] = int64(len(blob))
	}
	text, err := json.Marshal(envelope{Blobs: lengths, Body: raw})
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), nil
}

func readFrame(r io.Reader) (Message, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return Message{}, fmt.Errorf("read frame: %w", err)
	}
	length := binary.LittleEndian.Uint64(size[:])
	if length > maxHeader {
		return Message{}, fmt.Errorf("read frame: header of %d bytes", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return Message{}, fmt.Errorf("read header: %w", err)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return Message{}, fmt.Errorf("read header: %w", err)
	}
	message := Message{Header: e.Body}
	for _, n := range e.Blobs {
		if n < 0 || n > maxBlob {
			return Message{}, fmt.Errorf("read frame: blob of %d bytes", n)
		}
		blob := make([]byte, n)
		if _, err := io.ReadFull(r, blob); err != nil {
			return Message{}, fmt.Errorf("read blob: %w", err)
		}
		message.Blobs = append(message.Blobs, blob)
	}
	return message, nil
}

// tail keeps the last bytes written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	text  []byte
}

// Write appends p and forgets what exceeds the limit.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - t.limit; over > 0 {
		t.text = append([]byte{}, t.text[over:]...)
	}
	return len(p), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
