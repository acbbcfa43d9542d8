package gen_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/testkit/randomop"
)

// TestAcceptedGenerates: whatever check accepts can be generated. The definitions are made up at random, half of them by
// package randomop. ACCEPTED_OPS is how many are tried.
func TestAcceptedGenerates(t *testing.T) {
	t.Parallel()
	const each = 200
	all, err := strconv.Atoi(cmp.Or(os.Getenv("ACCEPTED_OPS"), "3000"))
	if err != nil {
		t.Fatal(err)
	}
	d := &drawer{Rand: rand.New(rand.NewPCG(1, 2)), words: nastyWords(t)}
	frameworks := [][]string{{"torch"}, {"jax"}, {"numpy", "cupy"}}
	done, tried := 0, 0
	for i := 0; done < all; i++ {
		project, drawn := d.project(t, each, frameworks[i%len(frameworks)])
		if _, err := gen.Generate(project); err != nil {
			t.Errorf("project %d: %v", i, err)
		}
		done, tried = done+len(project.Ops), tried+drawn
	}
	t.Logf("check accepted %d of %d definitions, and all were generated", done, tried)
}

// project draws a project of so many ops, or a few more, that check accepts. It returns how many it drew.
func (d *drawer) project(t *testing.T, ops int, adaptors []string) (p *opdef.Project, tried int) {
	t.Helper()
	dir := t.TempDir()
	d.kind = 0
	r := randomop.New(d.Uint64(), 0)
	devices := choose(d, `["cpu"]`, `["cpu", "cuda"]`, `["cuda"]`)
	write(t, filepath.Join(dir, "opcast.toml"),
		[]byte("name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\nsources = [\"csrc/*.cc\"]\ndevices = "+devices+"\nadaptors = "+quotedList(adaptors)+"\n"))
	for p == nil || len(p.Ops) < ops {
		for range ops {
			group := d.ops()
			if d.often(5) {
				group = d.disguised(r.Next())
			}
			for _, op := range group {
				tried++
				write(t, filepath.Join(dir, "opdefs", op.name+".toml"), []byte(op.text))
			}
		}
		p = withoutMistakes(t, dir)
	}
	return p, tried
}

// withoutMistakes deletes the definitions in which check finds mistakes, and loads the others.
func withoutMistakes(t *testing.T, dir string) *opdef.Project {
	t.Helper()
	for {
		p, diags, err := load.Load(dir)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(diags) == 0:
			return p
		}
		for _, one := range diags {
			if one.File == "opcast.toml" {
				t.Fatal(one)
			}
			if err := os.Remove(filepath.Join(dir, one.File)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
}

var identifier = regexp.MustCompile(`[A-Za-z0-9_]+`)

// nastyWords are names that the generated code, the runtimes and the templates use for their own things, as far as a
// definition may use them, too.
func nastyWords(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	add := func(word string) {
		if word = strings.Trim(word, "_"); names.IsIdentifier(word) && names.WhyReserved(word) == "" {
			found[word] = true
		}
	}
	for _, glob := range []string{
		"../backend/gen/*", "../backend/opcast/*.h", "../backend/python/src/*/*.py", "../backend/python/src/*/_gen/*.py",
		"../adaptors/*/src/*/*.py", "../adaptors/*/src/*/_ops/*.py", "../adaptors/*/src/*/_runtime/*.py", "../adaptors/*/csrc/*.*",
		"../adaptors/*/csrc/gen/*", "internal/templates/*/*.tmpl", "../adaptors/*/templates/*.tmpl",
	} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatal(glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range identifier.FindAllString(string(text), -1) {
				add(word)
				add(strings.ToLower(word))
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		add(string(c))
		add(strings.ToUpper(string(c)))
	}
	for word := range strings.FieldsSeq(`Args Types std opcast ops tvm_ffi int32_t size_t uintptr_t linux unix I name none module tensor
		annotations slow r m register_all dtypes size dim self out True NULL errno typeof and_eq ` + strings.Repeat("long_", 11) + "name") {
		add(word)
	}
	if len(found) < 1000 {
		t.Fatal(fmt.Sprint(len(found), " names"))
	}
	return slices.Sorted(maps.Keys(found))
}
