package export_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/flashinfer/export"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// All ops of this project but those that FlashInfer's definitions cannot say become such definitions, which become ops again.
func TestOwnOps(t *testing.T) {
	p, diags, err := load.Load(filepath.Join("..", "..", "..", ".."))
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	refused := map[string]string{}
	for _, op := range p.Ops {
		fixed := export.Fixed{Texts: map[string]string{}}
		for _, a := range op.Attrs {
			if a.Type == "str" && !a.HasDefault {
				fixed.Texts[a.Name] = a.OneOf[0]
			}
		}
		d, err := export.Export(op, fixed)
		if err != nil {
			refused[op.Name] = err.Error()
			continue
		}
		text, err := d.JSON()
		if err != nil {
			t.Fatal(op.Name, err)
		}
		back, err := flashinfer.Parse(text)
		if err != nil {
			t.Fatal(op.Name, err)
		}
		if _, err := flashinfer.DraftOf(back, 0); err != nil {
			refused[op.Name] = err.Error()
		}
		lines, err := d.Workloads()
		if err != nil || strings.Count(string(lines), "\n") > len(op.Workloads) {
			t.Errorf("%s: %v, %d workloads:\n%s", op.Name, err, len(op.Workloads), lines)
		}
	}
	for name, want := range map[string]string{
		"adamw": "no lists of arrays", "gemm_w4a16": "no uint8 that holds u4", "fused_moe_fp4": "no uint8 that holds f4e2m1fn",
		"conv2d": "its size P follows from no input",
	} {
		if !strings.Contains(refused[name], want) {
			t.Errorf("%s: got %q, want %q in it", name, refused[name], want)
		}
		delete(refused, name)
	}
	if len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
}
