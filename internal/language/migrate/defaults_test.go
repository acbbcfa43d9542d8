package migrate

import (
	"strings"
	"testing"
)

// TestDefaults: a definition has the defaults of the source, or none and a note.
func TestDefaults(t *testing.T) {
	for _, tt := range []struct{ param, want string }{
		{`std::string a = "none"`, `default = "none"`}, {`std::string a = "two  blanks"`, `default = "two  blanks"`},
		{`std::string a = "half " "and half"`, `default = "half and half"`}, {`std::string a = "say \"a\\b\""`, `default = "say \"a\\b\""`},
		{`std::string a = R"(a\b)"`, `default = "a\\b"`}, {`std::string a = ""`, `default = ""`}, {`const char* a = "None"`, `default = "None"`},
		{`std::optional<std::string> a = "x"`, `default = "x"`}, {`std::optional<std::string> a = std::nullopt`, "optional = true"},
		{`std::string a = std::string("none")`, ""}, {`std::string a = kDefault`, ""}, {`const char* a = nullptr`, ""}, {`std::string a = "a\n"`, ""},
		{`std::string a = "\x41"`, ""}, {`std::string a = "a" + b`, ""}, {`std::string a = {}`, ""},
		{"int64_t a = 10L", "default = 10"}, {"int64_t a = -1", "default = -1"}, {"int64_t a = 0", "default = 0"}, {"int64_t a = 0u", "default = 0"},
		{"int64_t a = 010", ""}, {"int64_t a = -07L", ""}, {"int64_t a = '1'", ""}, {"int64_t a = 0x10", ""}, {"double a = 010", ""},
		{"double a = 00.5", "default = 0.5"}, {"double a = 0.5f", "default = 0.5"}, {"std::vector<int64_t> a = {1, 2}", "default = [1, 2]"},
		{"std::vector<int64_t> a = {1, 010}", ""}, {"std::optional<int64_t> a = nullptr", "optional = true"},
	} {
		sources := []Source{{"a.h", "void f(float* y, const float* x, int n, " + tt.param + ");"}}
		functions, _ := Read(sources, Vocabulary{})
		drafts, notes := Drafts(functions, sources, Project{Namespace: "demo_ops"})
		if len(drafts) != 1 {
			t.Errorf("%s: %d drafts", tt.param, len(drafts))
			continue
		}
		_, line, _ := strings.Cut(drafts[0].Definition, `name = "a", `)
		line, _, _ = strings.Cut(line, ", doc =")
		_, got, _ := strings.Cut(line, ", ")
		told := false
		for _, n := range notes {
			told = told || strings.Contains(n.Text, "a has no default here")
		}
		if got != tt.want || told != (tt.want == "") {
			t.Errorf("%s: got %q, want %q, told: %v", tt.param, got, tt.want, told)
		}
	}
}
