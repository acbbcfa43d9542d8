package version

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// ordered are versions of all shapes, ascending. Those that are none come first.
var ordered = []string{
	"", "FLOAT128", "TM_1", "0.dev1", "0a1", "0", "0.1.13", "0.1.15.post2", "0.2.dev0", "0.2rc1", "0.2", "1.0.dev456", "1.0a1", "1.0a2.dev456",
	"1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2", "1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0",
	"1.0+abc.5", "1.0+abc.7", "1.0+5", "1.0.post0", "1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1", "2.2.5", "2.9.1", "2.10.0a0+b558c986e8.nv25.11",
	"2.10.0", "2.10.0+cpu", "2.17", "2.28", "2.99999999999999999999", "2.100000000000000000000", "20260724", "1!0.1",
}

func TestCompare(t *testing.T) {
	for i, a := range ordered {
		for j, b := range ordered {
			if got := Compare(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("Compare(%q, %q) = %d", a, b, got)
			}
			if Older(a, b) != (i < j) {
				t.Errorf("Older(%q, %q) = %t", a, b, i >= j)
			}
		}
	}
	for a, b := range map[string]string{
		"2.10": "2.10.0", "1.0RC1": "1.0-pre.01", "v1.0": "1", "1.0-1": "1.0.post1", "1.0.r2": "1.0post2", "1.0alpha": "1a0", "1.0+A_1": "1.0+a.1", " 1.0\n": "1.0",
	} {
		if got := Compare(a, b); got != 0 {
			t.Errorf("Compare(%q, %q) = %d", a, b, got)
		}
	}
}

func TestValid(t *testing.T) {
	for text, want := range map[string]bool{
		"2.28": true, "3.13.0rc2": true, "1!2.0.post1.dev3+cu128": true, "": false, "PRIVATE": false, "ABI_DT_RELR": false, "TM_1": false,
		"2.": false, "2..1": false, "2.28x": false, ">=2": false,
	} {
		if Valid(text) != want {
			t.Errorf("Valid(%q) = %t", text, !want)
		}
	}
}

func TestSatisfies(t *testing.T) {
	for _, tt := range []struct {
		version, bounds string
		want            bool
	}{
		{"0.1.13", ">=0.1.13,<0.2", true}, {"0.1.15.post2", ">=0.1.13,<0.2", true}, {"0.1.12", ">=0.1.13,<0.2", false},
		{"0.2.0", ">=0.1.13,<0.2", false}, {"0.2rc1", ">=0.1.13,<0.2", false}, {"0.1.13rc1", ">=0.1.13", false},
		{"2.10.0+cpu", "<=2.10", true}, {"2.10", ">2.10", false}, {"2.10.1", "==2.10", false}, {"2.10.0", "==2.10", true},
		{"2.0", "!=2.0", true}, {"2.0", "", true}, {"0.2rc1", "<0.2rc2", true}, {"1.9", "==2.*", true},
	} {
		if got := Satisfies(tt.version, tt.bounds); got != tt.want {
			t.Errorf("Satisfies(%q, %q) = %t", tt.version, tt.bounds, got)
		}
	}
}

// TestPackaging compares with the reference implementation, which packaging is, where an interpreter has it.
func TestPackaging(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON is not set")
	}
	valid := []string{}
	for _, v := range ordered {
		if Valid(v) {
			valid = append(valid, v)
		}
	}
	valid = append(valid, "1.0-1", "1.0c3", "1.0.0", "1.0_beta", "1.dev", "1post", "01.02", "1.0+1.a", "1.0+a", "1.0+a.1")
	const script = `import json, sys
from packaging.version import Version
all = [Version(v) for v in json.load(sys.stdin)]
print(json.dumps([[(a > b) - (a < b) for b in all] for a in all]))`
	cmd := exec.Command(python, "-c", script)
	text, err := json.Marshal(valid)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(text)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]int
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i, a := range valid {
		for j, b := range valid {
			if got := Compare(a, b); got != want[i][j] {
				t.Errorf("Compare(%q, %q) = %d, packaging says %d", a, b, got, want[i][j])
			}
		}
	}
}
