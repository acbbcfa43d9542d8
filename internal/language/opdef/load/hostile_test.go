package load

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// TestHostile: size is bounded before parsing, and depth costs no stack and little memory.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"nested arrays": "a = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deep nesting":  "a = " + strings.Repeat("[", projectfs.MaxFile/2),
		"dotted key":    strings.Repeat("a.", 50000) + "b = 1",
		"many elements": "a = [" + strings.Repeat("1,", projectfs.MaxFile/3) + "]",
		"many lets":     "let = { " + strings.Repeat("x", 1000) + ` = "` + strings.Repeat("(", 900) + `" }`,
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.List
			if doc := tomldoc.Parse("f.toml", []byte(text), &diags); doc != nil {
				checkOp(&opdef.Op{Name: "f"}, doc, "", &diags)
			}
			if len(diags) == 0 {
				t.Error("no mistake found")
			}
		})
	}
}

// TestLetGrowth: lets that double at every step stop at a bound instead of filling the memory.
func TestLetGrowth(t *testing.T) {
	text := with("x: T[N]", "y: T[N]", "let.a = \"N + N\"\nlet.b = \"a + a + a + a + a + a + a + a\"\nlet.c = \"b + b + b + b + b + b + b + b\"\nlet.d = \"c + c + c + c + c + c + c + c\"\n")
	_, diags := loadText(nil, text)
	if len(diags) != 1 || diags[0].Code != code.Let {
		t.Errorf("got %v", diags)
	}
}
