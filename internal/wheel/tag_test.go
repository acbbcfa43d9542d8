package wheel

import (
	"strings"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"2.9", "2.28", -1}, {"2.28", "2.28", 0}, {"2.28.1", "2.28", 1}, {"3.4.30", "3.4.24", 1}, {"PRIVATE", "2.28", -1}} {
		if got := compareVersions(c.a, c.b); got != c.want {
			t.Errorf("compareVersions(%s, %s) = %d, expected %d", c.a, c.b, got, c.want)
		}
	}
}

// What is no library of a known processor has no tag.
func TestPlatformRefuses(t *testing.T) {
	header := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\x08\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	for content, want := range map[string]string{
		"no library at all": "bad magic number", "\x7fELF": "", header: "EM_MIPS: expected x86_64 or aarch64",
	} {
		if _, _, err := platform(File{Name: "lib.so", Content: []byte(content)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("platform(%q): error %v, expected %q", content, err, want)
		}
		if _, _, err := programPlatform(File{Name: "tool", Content: []byte(content)}); err == nil {
			t.Errorf("programPlatform(%q) has no error", content)
		}
	}
}
