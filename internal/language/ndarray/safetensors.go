package ndarray

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Named is an array of a file.
type Named struct {
	Name  string
	Array *Array
}

// WriteSafetensors writes the dense elements of the arrays, in order, in the safetensors format.
func WriteSafetensors(w io.Writer, arrays []Named) error {
	type entry struct {
		DType   string   `json:"dtype"`
		Shape   []int64  `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	header, data := map[string]entry{}, new(bytes.Buffer)
	for _, named := range arrays {
		start := int64(data.Len())
		data.Write(named.Array.Bytes())
		header[named.Name] = entry{
			safetensorsName(named.Array.DType.Short), append([]int64{}, named.Array.Shape...), [2]int64{start, int64(data.Len())},
		}
	}
	text, err := json.Marshal(header) // map keys are sorted: same arrays, same bytes
	if err != nil {
		return fmt.Errorf("safetensors header: %w", err)
	}
	text = append(text, bytes.Repeat([]byte(" "), (8-len(text)%8)%8)...)
	for _, part := range [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write safetensors: %w", err)
		}
	}
	return nil
}

// safetensorsName is the format's name of an element type: F32, BF16, F8_E4M3, …
func safetensorsName(short string) string {
	if rest, ok := strings.CutPrefix(short, "f8"); ok {
		return "F8_" + strings.ToUpper(strings.TrimSuffix(rest, "fn"))
	}
	return strings.ToUpper(short)
}
