package e2e

import (
	"path/filepath"
	"testing"
)

// The example checks itself: equal bits in every adaptor, formulas in float64, and two ways to each result.
func TestDeepSeekMLA(t *testing.T) {
	t.Parallel()
	t.Log(run(t, command(t, root(t), python(t), filepath.Join("examples", "deepseek_mla"))))
}
