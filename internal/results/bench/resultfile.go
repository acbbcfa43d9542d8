package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON is the text of the file: a line for each row, figure and what was left out, so that changes can be reviewed.
func (r *Result) JSON() ([]byte, error) {
	head := *r
	head.Rows, head.Figures, head.LeftOut = []Row{}, nil, nil
	text, err := encoded(&head, "  ")
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("  \"rows\": [],\n  \"left_out\": null\n}\n")))
	for _, list := range []struct {
		name  string
		items []any
	}{{"rows", anys(r.Rows)}, {"figures", anys(r.Figures)}, {"left_out", anys(r.LeftOut)}} {
		if list.name == "figures" && len(list.items) == 0 {
			continue
		}
		if err := writeLines(out, list.name, list.items); err != nil {
			return nil, err
		}
	}
	out.Truncate(out.Len() - len(",\n"))
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// writeLines writes a list with one line for each item, and a comma behind it.
func writeLines(out *bytes.Buffer, name string, items []any) error {
	fmt.Fprintf(out, "  %q: [", name)
	for i, item := range items {
		line, err := encoded(item, "")
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n    ")
		out.Write(bytes.TrimSuffix(line, []byte("\n")))
	}
	if len(items) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("],\n")
	return nil
}

func encoded(v any, indent string) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write result: %w", err)
	}
	return text.Bytes(), nil
}
