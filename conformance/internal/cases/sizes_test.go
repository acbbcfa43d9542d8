package cases

import (
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// A plan is refused without a search where a search finds nothing, and nowhere else.
func TestExceeds(t *testing.T) {
	p, findings, err := load.Load(filepath.Join("..", "..", "..", "examples", "inference"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	refused := 0
	for _, op := range p.Ops {
		symbols := Symbols(op)
		if len(symbols) == 0 || len(symbols) > 4 { // a search among more takes long
			continue
		}
		for _, size := range []int64{0, 3, 1031, MaxElements, MaxElements + 1} {
			exceeds, found := solved(op, symbols[0], size)
			if exceeds && found {
				t.Errorf("%s: %s = %d is refused, and has a solution", op.Name, symbols[0], size)
			}
			if exceeds {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no plan is refused")
	}
}

// solved says whether a size is refused at once, and whether a search finds sizes to go with it.
func solved(op *opdef.Op, symbol string, size int64) (exceeds, found bool) {
	attrs := map[string]any{}
	for _, a := range op.Attrs {
		if a.HasDefault {
			attrs[a.Name] = a.Default
		}
	}
	s := search{
		op: op, attrs: attrs, dtypes: SupportedDTypes(op, "cpu")[0], sizes: map[string]int64{symbol: size},
		free: Symbols(op)[1:], order: Symbols(op)[1:], limit: MaxTries, largest: MaxElements, allowEmpty: true,
	}
	exceeds = s.exceeds()
	return exceeds, s.next(0)
}
