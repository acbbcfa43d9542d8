package dtype_test

import (
	"os"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/dtype"
)

// A row of the table needs company where values of the dtype are made, read or changed. Each place that lacks one is named.
func TestPlaces(t *testing.T) {
	const top = "../../../"
	enumerator := func(d dtype.DType) string { return "::" + d.Enumerator() + ":" }
	for _, place := range []struct {
		files []string
		wants func(dtype.DType) string // a text of the files; empty where the dtype needs none
	}{
		{[]string{"backend/opcast/types.h", "backend/opcast/fp8.h", "backend/opcast/complex.h"}, func(d dtype.DType) string {
			if name, ours := strings.CutPrefix(d.CPP, "opcast::"); ours {
				return " " + name + " " // after using or struct
			}
			return ""
		}},
		{[]string{"backend/opcast/ffi_contents.cc"}, func(d dtype.DType) string {
			if d.Short == "bool" || d.Complex() { // no content is out of range
				return ""
			}
			return enumerator(d)
		}},
		{[]string{"internal/testkit/randomop/fit.h"}, enumerator},
		{[]string{"internal/language/ndarray/codec.go"}, func(d dtype.DType) string {
			if d.ULP > 0 && d.Bits < 32 {
				return `"` + d.Short + `":`
			}
			return ""
		}},
	} {
		var text strings.Builder
		for _, file := range place.files {
			content, err := os.ReadFile(top + file)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(content)
		}
		for _, d := range dtype.Table {
			if want := place.wants(d); d.CPP != "" && !strings.Contains(text.String(), want) {
				t.Errorf("%s: %s lacks %q", d.Long, strings.Join(place.files, " or "), want)
			}
		}
	}
}
