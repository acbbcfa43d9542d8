package wheel

import (
	"strings"
	"testing"
)

// What is no library, and what is for no known processor, has no tag.
func TestPlatformRefuses(t *testing.T) {
	header := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\x08\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	for content, want := range map[string][2]string{
		"no library at all": {"it is no ELF file", "bad magic number"},
		"\x7fELF":           {"lib.so", "tool"},
		header:              {"no shared library", "EM_MIPS: expected x86_64 or aarch64"},
	} {
		if _, _, err := platform(File{Name: "lib.so", Content: []byte(content)}, nil); err == nil || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("platform(%q): error %v, expected %q", content, err, want[0])
		}
		if _, _, err := programPlatform(File{Name: "tool", Content: []byte(content)}); err == nil || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("programPlatform(%q): error %v, expected %q", content, err, want[1])
		}
	}
}
