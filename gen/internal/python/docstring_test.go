package python

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/gen/internal/view"
)

func TestDocTextBreaksLines(t *testing.T) {
	d := &view.Docstring{Width: docWidth}
	d.Item("x : int", strings.Repeat("word ", 40))
	for _, line := range d.Lines {
		if len(line) > docWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if len(d.Lines) < 3 || !strings.HasPrefix(d.Lines[2], "    word") {
		t.Errorf("continuation is not indented: %q", d.Lines)
	}
}
