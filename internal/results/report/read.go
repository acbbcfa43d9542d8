package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// What Read takes at most. A run of this repository leaves a few megabytes and some thousand results.
const (
	maxBytes   = 256 << 20
	maxResults = 1_000_000
)

// ErrSchema means that a report was written by another version of this program.
var ErrSchema = errors.New("unknown schema")

// Read reads a report.json. It refuses other schemas, files that are too large and results without a name.
func Read(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	r, err := read(f, maxBytes)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read report %s: %w", path, err)
	}
	return r, nil
}

// read reads a report of at most limit bytes.
func read(from io.Reader, limit int64) (*Report, error) {
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Schema != Schema {
		return nil, fmt.Errorf("%w %d, want %d", ErrSchema, head.Schema, Schema)
	}
	r := &Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	return r, r.validate()
}

// validate holds a report that was read against what every report has.
func (r *Report) validate() error {
	if len(r.Results) > maxResults {
		return fmt.Errorf("it has %d results, more than %d", len(r.Results), maxResults)
	}
	for i := range r.Results {
		result := &r.Results[i]
		if result.Op == "" || result.Adaptor == "" || result.Check == "" {
			return fmt.Errorf("result %d lacks op, adaptor or check", i)
		}
		if !result.Status.known() {
			return fmt.Errorf("result %d has the status %q", i, result.Status)
		}
	}
	return nil
}
