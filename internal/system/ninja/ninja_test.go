package ninja

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	file := File{
		Comment: "Written by a test.",
		Vars:    []Var{{"builddir", "out"}, {"cost", Escape("5$")}},
		Rules:   []Rule{{"cxx", []Var{{"command", "c++ -MD -MF $out.d -c $in -o $out"}, {"deps", "gcc"}}}},
		Builds: []Build{
			{Outputs: []string{"out/a b.o"}, Rule: "cxx", Inputs: []string{"c:$x.cc"}, Implicit: []string{"tool"},
				Vars: []Var{{"flags", "-O3"}}},
			{Outputs: []string{"all"}, Rule: "phony", Inputs: []string{"out/a b.o"}},
		},
		Defaults: []string{"all"},
	}
	want := `# Written by a test.
builddir = out
cost = 5$$

rule cxx
  command = c++ -MD -MF $out.d -c $in -o $out
  deps = gcc

build out/a$ b.o: cxx c$:$$x.cc | tool
  flags = -O3

build all: phony out/a$ b.o

default all
`
	got, err := file.Text()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestTextRefusesLineBreaks(t *testing.T) {
	for name, file := range map[string]File{
		"path":  {Builds: []Build{{Outputs: []string{"a\nb"}, Rule: "phony"}}},
		"value": {Vars: []Var{{"flags", "-O3\r"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := file.Text(); err == nil {
				t.Error("no error for a line break")
			}
		})
	}
}
