package audit

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/opcast/opcast/internal/language/diag"
)

const wheelFile, info = "demo_backend-0.1.0-py3-none-manylinux_2_28_x86_64.whl", "demo_backend-0.1.0.dist-info/"

// newWheel is a wheel in order: its files without RECORD.
func newWheel(library []byte) map[string]string {
	return map[string]string{
		"demo_backend/__init__.py":    "\n",
		"demo_backend/lib/libdemo.so": string(library),
		info + "METADATA":             "Metadata-Version: 2.4\nName: demo-backend\nVersion: 0.1.0\n\nName: another\n",
		info + "WHEEL":                "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n",
		info + "licenses/LICENSE":     "Any.\n",
	}
}

// pack makes the archive, with a RECORD unless the files have one.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	names := slices.Sorted(maps.Keys(files))
	folder := info
	for _, n := range names {
		if before, _, ok := strings.Cut(n, ".dist-info/"); ok {
			folder = before + ".dist-info/"
		}
	}
	if _, ok := files[folder+"RECORD"]; !ok {
		var record strings.Builder
		for _, n := range names {
			sum := sha256.Sum256([]byte(files[n]))
			fmt.Fprintf(&record, "%s,sha256=%s,%d\n", n, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[n]))
		}
		files = maps.Clone(files)
		files[folder+"RECORD"] = record.String() + folder + "RECORD,,\n"
		names = append(names, folder+"RECORD")
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, n := range names {
		w, err := archive.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[n])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// static is a program for a machine that no loader has to link: the header of an ELF file and nothing more.
func static(elf []byte, machine byte) string {
	header := slices.Clone(elf[:64])
	header[18] = machine
	clear(header[40:48]) // where sections are described
	clear(header[56:])   // numbers of segments and sections
	return string(header)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestWheel: what is wrong with a wheel is found, and nothing else.
func TestWheel(t *testing.T) {
	good := read(t, samples["good"].build(t))
	glibc := read(t, samples["new glibc"].build(t))
	const both = "demo_backend-0.1.0-py3-none-manylinux_2_28_x86_64.musllinux_1_1_x86_64.whl"
	old := read(t, samples["old glibc"].build(t))
	needs := func(library, version string) string {
		return string(read(t, sample{source: calls("novel"), fakes: []fake{{library, version, "novel"}}}.build(t)))
	}
	newer, newABI := needs("libstdc++.so.6", "GLIBCXX_3.4.22"), needs("libstdc++.so.6", "CXXABI_1.3.11")
	set := func(name, text string) func(map[string]string) {
		return func(files map[string]string) { files[name] = text }
	}
	tests := map[string]struct {
		name   string
		change func(files map[string]string)
		codes  []string
		text   string
	}{
		"good":             {change: func(map[string]string) {}},
		"build number":     {name: strings.Replace(wheelFile, "-py3", "-1-py3", 1), change: func(map[string]string) {}},
		"bad name":         {name: "demo.whl", change: func(map[string]string) {}, codes: []string{"W001"}},
		"new glibc":        {change: set("demo_backend/lib/libdemo.so", string(glibc)), codes: []string{"A002", "W004"}, text: "promises glibc 2.28, and its libraries need glibc 2.34"},
		"no library":       {change: set("demo_backend/lib/libdemo.so", "text"), codes: []string{"A009"}},
		"damaged":          {change: set("demo_backend/lib/libdemo.so", string(good[:200])), codes: []string{"A009"}},
		"other name":       {change: set("demo_backend/lib/libdemo.so.1", string(glibc)), codes: []string{"A002", "W004"}},
		"program":          {change: set("demo_backend-0.1.0.data/scripts/demo", string(read(t, samples["leaked"].build(t))))},
		"new program":      {change: set("demo_backend-0.1.0.data/scripts/demo", string(glibc)), codes: []string{"A002", "W004"}},
		"static program":   {change: set("demo_backend-0.1.0.data/scripts/demo", static(good, 62))},
		"other machine's":  {change: set("demo_backend-0.1.0.data/scripts/demo", static(good, 183)), codes: []string{"A001"}},
		"bin":              {change: set("demo_backend/bin/demo", static(good, 183)), codes: []string{"A001"}},
		"damaged program":  {change: set("demo_backend-0.1.0.data/data/bin/demo", string(good[:200])), codes: []string{"A009"}},
		"no RECORD":        {change: set(info+"RECORD", ""), codes: []string{"W002"}, text: "does not list"},
		"RECORD of others": {change: set(info+"RECORD", "gone.py,sha256=x,1\n"), codes: []string{"W002"}, text: "lists gone.py, which is not in it"},
		"RECORD of noise":  {change: set(info+"RECORD", "\"\n"), codes: []string{"W002"}, text: "cannot be read"},
		"other version":    {change: set(info+"METADATA", "Name: demo-backend\nVersion: 0.2.0\n"), codes: []string{"W003"}, text: `"0.2.0"`},
		"other project":    {change: set(info+"METADATA", "Name: demo\nVersion: 0.1.0\n"), codes: []string{"W003"}},
		"other tag":        {change: set(info+"WHEEL", "Root-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"), codes: []string{"W003"}},
		"pure":             {change: set(info+"WHEEL", "Root-Is-Purelib: true\nTag: py3-none-manylinux_2_28_x86_64\n"), codes: []string{"W003"}, text: "Purelib"},
		"any":              {name: "demo_backend-0.1.0-py3-none-any.whl", change: set(info+"WHEEL", "Root-Is-Purelib: false\nTag: py3-none-any\n"), codes: []string{"W004"}},
		"linux":            {name: "demo_backend-0.1.0-py3-none-linux_x86_64.whl", change: set(info+"WHEEL", "Root-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"), codes: []string{"W004"}},
		"too new":          {name: "demo_backend-0.1.0-py3-none-manylinux_2_34_x86_64.whl", change: set(info+"WHEEL", "Root-Is-Purelib: false\nTag: py3-none-manylinux_2_34_x86_64\n"), codes: []string{"W004"}},
		"arm":              {name: "demo_backend-0.1.0-py3-none-manylinux_2_28_aarch64.whl", change: set(info+"WHEEL", "Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_aarch64\n"), codes: []string{"W004"}},
		"promises more": {name: "demo_backend-0.1.0-py3-none-manylinux2014_x86_64.whl", change: func(files map[string]string) {
			files["demo_backend/lib/libdemo.so"] = string(old)
			files[info+"WHEEL"] = "Root-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n"
		}, codes: []string{"W004"}, text: "promises glibc 2.17, and its libraries need glibc 2.28"},
		"two platforms": {name: "demo_backend-0.1.0-py3-none-manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl", change: set(info+"WHEEL",
			"Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\nTag: py3-none-manylinux_2_17_x86_64\n")},
		"pure and any": {name: "demo_backend-0.1.0-py3-none-any.whl", change: func(files map[string]string) {
			delete(files, "demo_backend/lib/libdemo.so")
			files[info+"WHEEL"] = "Root-Is-Purelib: true\nTag: py3-none-any\n"
		}},
		"every C library": {name: both, change: func(files map[string]string) {
			delete(files, "demo_backend/lib/libdemo.so")
			files["demo_backend-0.1.0.data/scripts/demo"] = static(good, 62)
			files[info+"WHEEL"] = "Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n"
		}},
		"one C library": {name: both, change: func(files map[string]string) {
			files["demo_backend/lib/libdemo.so"] = string(old)
			files[info+"WHEEL"] = "Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n"
		}, codes: []string{"W004"}, text: "promises another C library, and it needs glibc 2.28"},
		"old libstdc++": {name: "demo_backend-0.1.0-py3-none-manylinux2014_x86_64.whl", change: func(files map[string]string) {
			files["demo_backend/lib/libdemo.so"] = newer
			files[info+"WHEEL"] = "Root-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n"
		}, codes: []string{"W004"}, text: "promises GLIBCXX_3.4.19, and its libraries need GLIBCXX_3.4.22 [W004]\n  hint: give it the tag manylinux_2_24_x86_64"},
		"old C++ ABI": {name: "demo_backend-0.1.0-py3-none-manylinux_2_25_x86_64.whl", change: func(files map[string]string) {
			files["demo_backend/lib/libdemo.so"] = newABI
			files[info+"WHEEL"] = "Root-Is-Purelib: false\nTag: py3-none-manylinux_2_25_x86_64\n"
		}, codes: []string{"W004"}, text: "promises CXXABI_1.3.10, and its libraries need CXXABI_1.3.11 [W004]\n  hint: give it the tag manylinux_2_27_x86_64"},
		"two metadata":  {change: set("another-1.dist-info/METADATA", "Name: other\n"), codes: []string{"W006"}, text: "another-1.dist-info and demo_backend-0.1.0.dist-info"},
		"twice":         {change: set("demo_backend/./__init__.py", "other"), codes: []string{"W002", "W005"}},
		"huge metadata": {change: set(info+"WHEEL", strings.Repeat(" ", 2<<20)), codes: []string{"W003", "W005"}, text: "has more than 1 MiB"},
		"control characters": {change: func(files map[string]string) {
			files["demo_backend/lib/\x1b[31m.so"] = string(glibc)
			files[info+"METADATA"] = "Name: \x1b[0m\u202e\xff\nVersion: 0.1.0\n"
		}, codes: []string{"A002", "W003", "W004"}, text: `it is "\x1b[0m\u202e\xff"`},
		"leads out": {change: set("../outside.py", ""), codes: []string{"W002", "W005"}},
		"no metadata": {change: func(files map[string]string) {
			delete(files, info+"METADATA")
			delete(files, info+"WHEEL")
			delete(files, info+"licenses/LICENSE")
			files["demo-9.dist-info/METADATA"] = ""
		}, codes: []string{"W002"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := newWheel(good)
			tt.change(files)
			file := filepath.Join(t.TempDir(), wheelFile)
			if tt.name != "" {
				file = filepath.Join(filepath.Dir(file), tt.name)
			}
			report, err := File(write(t, file, string(pack(t, files))), Rules{})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := report.Findings.Print(&text); err != nil {
				t.Fatal(err)
			}
			if printed, err := json.Marshal(report); err != nil || strings.ContainsFunc(text.String()+string(printed), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("what is printed has control characters: %s%s, %v", &text, printed, err)
			}
			if got := codes(report); !slices.Equal(got, tt.codes) || !strings.Contains(text.String(), tt.text) {
				t.Errorf("found %v, want %v with %q\n%s", got, tt.codes, tt.text, &text)
			}
		})
	}
}

// TestWheelChanged: a byte that was changed later, and archives that end early or lie about sizes.
func TestWheelChanged(t *testing.T) {
	good := pack(t, newWheel(read(t, samples["good"].build(t))))
	judge := func(content []byte) []string {
		report, err := Wheel(wheelFile, bytes.NewReader(content), int64(len(content)), Rules{})
		if err != nil {
			t.Fatal(err)
		}
		return codes(report)
	}
	if got := judge(good); len(got) > 0 {
		t.Fatalf("found %v in a good wheel", got)
	}
	for _, content := range [][]byte{nil, good[:100], good[:len(good)-30], []byte("PK\x03\x04")} {
		if got := judge(content); !slices.Equal(got, []string{"W005"}) {
			t.Errorf("%d bytes: found %v", len(content), got)
		}
	}
	// The size of the first member in the directory, which begins with this signature.
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	for _, size := range []uint32{0, 0xfffffff0} {
		bad := slices.Clone(good)
		binary.LittleEndian.PutUint32(bad[directory+24:], size)
		if got := judge(bad); !slices.Contains(got, "W005") {
			t.Errorf("size %d: found %v", size, got)
		}
	}
	files := newWheel(nil)
	delete(files, "demo_backend/lib/libdemo.so")
	record := "demo_backend/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
	files[info+"RECORD"] = record
	if got := judge(pack(t, files)); !slices.Contains(got, "W002") {
		t.Errorf("a changed file: found %v", got)
	}
}

// TestWheelOfLibraries: a library may need another one of the wheel.
func TestWheelOfLibraries(t *testing.T) {
	s := samples["foreign"]
	s.flags = []string{"-Wl,-rpath,$ORIGIN"}
	files := newWheel(read(t, s.build(t)))
	if got := codes(judged(t, files)); !slices.Equal(got, []string{"A003"}) {
		t.Errorf("without it: %v", got)
	}
	foreign := string(read(t, samples["good"].build(t)))
	files["demo_backend/lib/libforeign.so.1"] = foreign
	report := judged(t, files)
	if got := codes(report); len(got) > 0 || len(report.Libraries) != 2 {
		t.Errorf("with it: %v", report.Findings)
	}
	if w := report.Wheel; w.Distribution != "demo_backend" || w.Version != "0.1.0" || w.Files != 7 || len(w.Tags) != 1 {
		t.Errorf("facts %+v", w)
	}
}

// TestWheelOfFolders: a needed library is there if the RUNPATH of what needs it leads to its folder.
func TestWheelOfFolders(t *testing.T) {
	const other = "demo_backend.libs/libforeign.so.1"
	foreign := string(read(t, samples["good"].build(t)))
	for name, tt := range map[string]struct {
		search, at string
		hint       string
	}{
		"nothing":     {"", "demo_backend/lib/libforeign.so.1", "-Wl,-rpath,'$ORIGIN'"},
		"another one": {"$ORIGIN", other, "-Wl,-rpath,'$ORIGIN/../../demo_backend.libs'"},
		"leads there": {"/opt:${ORIGIN}/../../demo_backend.libs", other, ""},
		"platlib":     {"$ORIGIN/../../demo_backend.libs", "demo_backend-0.1.0.data/platlib/" + other, ""},
	} {
		s := samples["foreign"]
		if tt.search != "" {
			s.flags = []string{"-Wl,-rpath," + tt.search}
		}
		files := newWheel(read(t, s.build(t)))
		files[tt.at] = foreign
		report := judged(t, files)
		found := slices.DeleteFunc(report.Findings, func(d diag.Diagnostic) bool { return d.Code != "A003" })
		if len(found) != min(1, len(tt.hint)) || len(found) > 0 && !strings.Contains(found[0].Hint, tt.hint) {
			t.Errorf("%s: %v", name, report.Findings)
		}
	}
}

func judged(t *testing.T, files map[string]string) *Report {
	t.Helper()
	content := pack(t, files)
	report, err := Wheel(wheelFile, bytes.NewReader(content), int64(len(content)), Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
