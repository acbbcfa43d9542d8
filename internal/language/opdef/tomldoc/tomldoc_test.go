package tomldoc

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/diag"
)

// TestPositions marks the expected places of keys and values with the text that stands there.
func TestPositions(t *testing.T) {
	const text = `a = true
b.c = "text" # é
list = [1, [2, 3], { x = 1.5, y.z = '''
two lines''' }]
"odd key" = 1979-05-27

[[kernels]]
name = "one"
[[kernels]]
name = "two"
dtypes.T = "f16"
[kernels.more]
deep = [
  "e",
]
`
	var diags diag.List
	doc := Parse("f.toml", []byte(text), &diags)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	lines := strings.Split(text, "\n")
	for path, want := range map[string]string{
		"a": "true", "b": "b.c", "b.c": `"text"`, "list": "list", "list[0]": "1, [", "list[1][1]": "3]", "list[2]": "{ x", "list[2].x": "1.5", "list[2].y.z": "'''",
		"odd key": "1979", "kernels": "kernels", "kernels[0]": "kernels", "kernels[1].name": `"two"`, "kernels[1].dtypes.T": `"f16"`,
		"kernels[1].more": "more]", "kernels[1].more.deep[0]": `"e"`,
	} {
		pos := doc.At(path)
		if pos.Line < 1 || !strings.HasPrefix(lines[pos.Line-1][pos.Col-1:], want) {
			t.Errorf("%s: at %s, want %q there", path, pos, want)
		}
	}
	if got, want := doc.KeyAt("kernels[1].name").String(), "f.toml:10:1"; got != want {
		t.Errorf("key at %s, want %s", got, want)
	}
	if got, want := doc.At("kernels[1].missing[3].too").String(), "f.toml:9:3"; got != want {
		t.Errorf("missing key at %s, want %s", got, want)
	}
}

// TestInside: offsets count inside strings that stand in the file as they are; others are pointed at as a whole.
func TestInside(t *testing.T) {
	var diags diag.List
	doc := Parse("f.toml", []byte("plain = \"T[N]\"\nliteral = 'T[N]'\nescaped = \"T\\u005bN]\"\nlong = \"\"\"\nT[N]\"\"\"\n"), &diags)
	for path, want := range map[string]string{"plain": "f.toml:1:12", "literal": "f.toml:2:14", "escaped": "f.toml:3:11", "long": "f.toml:4:8"} {
		if got := doc.In(path, 2).String(); got != want {
			t.Errorf("%s: at %s, want %s", path, got, want)
		}
	}
}
