package load

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// TestHostile: size, depth and number are bounded before anything is parsed, in definitions as in manifests.
func TestHostile(t *testing.T) {
	key := strings.Repeat("k", 12)
	distinct := func(format string, n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, format, i)
		}
		return out.String()
	}
	for name, text := range map[string]string{
		"nested arrays":           "a = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"deep nesting":            "a = " + strings.Repeat("[", projectfs.MaxFile/2),
		"dotted key":              strings.Repeat("a.", 50000) + "b = 1",
		"dotted key alone":        strings.Repeat("a.", 100000),
		"dotted key with spaces":  strings.Repeat("a . ", 60000) + "b = 1",
		"dotted key of strings":   strings.Repeat(`""."a".`, 30000) + "b = 1",
		"dotted key in a table":   "a = {" + strings.Repeat("a.", 50000) + "b = 1}",
		"dotted header":           "[" + strings.Repeat("a.", 100000) + "b]",
		"dotted header of tables": "x = 1\n# x\n[[" + strings.Repeat("a.", 100000) + "b]]",
		"long header":             "[" + strings.Repeat("a", 100000) + "]\n" + distinct("a%d=1\n", 20000),
		"long quoted header":      "['" + strings.Repeat("a", 100000) + "']\nx = [" + strings.Repeat("1,", 80000) + "]",
		"long key":                "'" + strings.Repeat("a", 100000) + "' = [" + strings.Repeat("1,", 80000) + "]",
		"many elements":           "a = [" + strings.Repeat("1,", projectfs.MaxFile/3) + "]",
		"many tables":             "inputs = [" + strings.Repeat("{},", projectfs.MaxFile/4) + "]",
		"many keys":               distinct("a%x=1\n", 30000),
		"many headers":            distinct("[a%x]\n", 30000),
		"just enough keys":        distinct("a%x=1\n", 4990),
		"just enough tables":      "files = [" + strings.Repeat("{},", 9990) + "]",
		"just enough inputs":      "inputs = [" + strings.Repeat("{},", 9990) + "]",
		"just enough names":       "[" + strings.Repeat(key+".", 7) + key + "]\na = [" + strings.Repeat("1,", 9990) + "]",
		"many lets":               "let = { " + strings.Repeat("x", 1000) + ` = "` + strings.Repeat("(", 900) + `" }`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, diags := range checkedAsBoth(t, text) {
				if len(diags) == 0 {
					t.Error("no mistake found")
				}
			}
		})
	}
}

// checkedAsBoth reads a text as a definition and as a manifest. Neither may take as much memory as a bomb.
func checkedAsBoth(t *testing.T, text string) (both [2]diag.List) {
	t.Helper()
	for i := range both {
		before := allocated()
		if doc := tomldoc.Parse("f.toml", []byte(text), &both[i]); doc != nil && i == 0 {
			checkOp(&opdef.Op{Name: "f"}, doc, neighbours{}, &both[i])
		} else if doc != nil {
			manifest.Check(doc, func(string) string { return "" }, &both[i])
		}
		if got := (allocated() - before) >> 20; got > 256 {
			t.Errorf("%d MiB were allocated for %d bytes of text", got, len(text))
		}
	}
	return both
}

// allocated is how many bytes the process has asked for, whether or not they are free again.
func allocated() uint64 {
	var state runtime.MemStats
	runtime.ReadMemStats(&state)
	return state.TotalAlloc
}

// TestLetGrowth: lets that double at every step stop at a bound instead of filling the memory.
func TestLetGrowth(t *testing.T) {
	text := with("x: T[N]", "y: T[N]", "let.a = \"N + N\"\nlet.b = \"a + a + a + a + a + a + a + a\"\nlet.c = \"b + b + b + b + b + b + b + b\"\nlet.d = \"c + c + c + c + c + c + c + c\"\n")
	_, diags := loadText(nil, text)
	if len(diags) != 1 || diags[0].Code != code.Let {
		t.Errorf("got %v", diags)
	}
}
