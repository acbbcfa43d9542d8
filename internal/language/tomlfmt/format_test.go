package tomlfmt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for name, tt := range map[string]struct{ src, want string }{
		"spaces":     {"a=1\n\tb  =  [1,2 ,3]   \nc={x=1,y = 2}\n", "a = 1\nb = [1, 2, 3]\nc = { x = 1, y = 2 }\n"},
		"keys":       {"a . b=1\n\"x y\" . z = 2\n[ t . u ]\n", "a.b = 1\n\"x y\".z = 2\n\n[t.u]\n"},
		"blank":      {"\n\n\na = 1\n\n\n\nb = 2\n\n\n", "a = 1\n\nb = 2\n"},
		"end":        {"a = 1", "a = 1\n"},
		"empty":      {"a = []\nb = {}\nc = [\n]\n", "a = []\nb = {}\nc = [\n]\n"},
		"lines":      {"a = [1,\n2, 3,\n\n\n4]\n", "a = [\n  1,\n  2, 3,\n\n  4,\n]\n"},
		"nested":     {"a = [\n[1,2],\n[\n3\n]]\n", "a = [\n  [1, 2],\n  [\n    3,\n  ],\n]\n"},
		"trailing":   {"a = [1, 2,]\n", "a = [1, 2]\n"},
		"tables":     {"a = 1\n[t]\nb = 2\n# about u\n[[u]]\nc = 3\n# not about v\n\n[v]\n", "a = 1\n\n[t]\nb = 2\n\n# about u\n[[u]]\nc = 3\n# not about v\n\n[v]\n"},
		"head":       {"# head\n[t]\na = 1\n", "# head\n[t]\na = 1\n"},
		"comments":   {"  # one  \na = 1# two\nb = [ # three\n  # four\n  1 # five\n  , 2\n  # six\n]\n# seven", "# one\na = 1 # two\nb = [ # three\n  # four\n  1, # five\n  2,\n  # six\n]\n# seven\n"},
		"in a line":  {"a = [1, # one\n2]\n", "a = [\n  1, # one\n  2,\n]\n"},
		"strings":    {"a=\"#[,]\"\nb='\\'\nc = \"\"\"\n  x = [1,2]  \n\n\n\"quoted\"\\\"\"\"\"\"\"\nd='''\n''''\n", "a = \"#[,]\"\nb = '\\'\nc = \"\"\"\n  x = [1,2]  \n\n\n\"quoted\"\\\"\"\"\"\"\"\nd = '''\n''''\n"},
		"dates":      {"a=1979-05-27 07:32:00Z\nb = [1979-05-27, -1.5e+3,+inf]\n", "a = 1979-05-27 07:32:00Z\nb = [1979-05-27, -1.5e+3, +inf]\n"},
		"windows":    {"\ufeffa = 1\r\n\r\n\r\nb = 2 # two\r\n", "a = 1\n\nb = 2 # two\n"},
		"mixed":      {"a = \"\"\"x\r\ny\nz\"\"\"\r\nb = '''\r\n1'''\n", "a = \"\"\"x\ny\nz\"\"\"\nb = '''\n1'''\n"},
		"undefined":  {"a=nan\nb = [-nan, {c=+nan}]\n", "a = nan\nb = [-nan, { c = +nan }]\n"},
		"columns":    {"a = [\n{ n = 1,   m = 2},\n  {n=111,m=2}\n]\n", "a = [\n  { n = 1,   m = 2 },\n  { n = 111, m = 2 },\n]\n"},
		"no content": {"", ""},
		"remark":     {"a = [\n  1,\n] # end\n", "a = [\n  1,\n] # end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Format([]byte(tt.src))
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, tt.want)
			}
			if again, err := Format(got); err != nil || string(again) != tt.want {
				t.Errorf("the second time: %v\n%s", err, again)
			}
		})
	}
	if _, err := Format([]byte("a = [")); err == nil {
		t.Error("what is no TOML is formatted")
	}
}

// What TOML 1.1 has and TOML 1.0 has not is found, and nothing else.
func TestNewer(t *testing.T) {
	for src, want := range map[string]string{
		"a = { b = 1,\n c = 2 }":        "14 line break inside an inline table",
		"a = [{ b = [\n1],\n\nc = 2 }]": "18 line break inside an inline table",
		"a = { b = 1\n}":                "12 line break inside an inline table",
		"a = { # one\n b = 1 }":         "6 comment inside an inline table",
		"a = { b = 1, }":                "11 comma behind the last key of an inline table",
		"a = \"x\\e\"":                  `6 escape \e`,
		"a = \"\"\"x\\\\\\x41\"\"\"":    `10 escape \x`,
		"a = 07:32":                     "4 time without seconds",
		"a = [1979-05-27T07:32Z]":       "5 time without seconds",
		"a = 1979-05-27 07:32-01:00":    "15 time without seconds",
		"a = { b = [ # one\n1,\n], c = 2 }\nd = [1,]\ne = '\\e'\nf = \"\\\\e\"\ng = 1979-05-27 07:32:00.5Z\nh = {}\n\"07:32\" = 07:32:00": "",
	} {
		at, what := Newer(src)
		if got := strings.TrimPrefix(fmt.Sprintf("%d %s", at, what), "0 "); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
		if _, err := Format([]byte(src)); (err == nil) != (want == "") {
			t.Errorf("%q: error %v", src, err)
		}
	}
}

// FuzzFormat: what is TOML stays what it means, and formatting is stable.
func FuzzFormat(f *testing.F) {
	files, _ := filepath.Glob("../../../opdefs/*/*.toml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("a = [ # three\n  # four\n  1 # five\n  , 2\n  # six\n]\n# seven\n[[b]]\nc.d = '''x'''''")
	f.Fuzz(func(t *testing.T, src string) {
		if _, err := decode(src); err != nil {
			t.Skip("not TOML")
		}
		once, err := Format([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := Format(once); err != nil || string(twice) != string(once) {
			t.Errorf("%q, then %q, then %q (%v)", src, once, twice, err)
		}
	})
}
