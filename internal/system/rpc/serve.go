package rpc

import (
	"errors"
	"fmt"
	"io"
)

// Serve is the other end of a Worker in a process written in Go: it greets, then answers each request until its input ends.
func Serve(in io.Reader, out io.Writer, greeting any, answer func(Message) (any, [][]byte, error)) error {
	if err := writeFrame(out, greeting, nil); err != nil {
		return err
	}
	for {
		request, err := readFrame(in)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		body, blobs, err := answer(request)
		if err != nil {
			return err
		}
		if err := writeFrame(out, body, blobs); err != nil {
			return err
		}
	}
}

func writeFrame(out io.Writer, body any, blobs [][]byte) error {
	header, err := encodeHeader(body, blobs)
	if err != nil {
		return err
	}
	for _, part := range append([][]byte{header}, blobs...) {
		if _, err := out.Write(part); err != nil {
			return fmt.Errorf("write frame: %w", err)
		}
	}
	return nil
}
