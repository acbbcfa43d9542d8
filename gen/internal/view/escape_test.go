package view

import "testing"

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"Plain text, with x_1 and (2 + 3).": "Plain text, with x_1 and (2 + 3).",
		"<b>`a|b`</b> & *c* [d](e) $f$ ~g~": "\\<b\\>\\`a\\|b\\`\\</b\\> \\& \\*c\\* \\[d\\](e) \\$f\\$ \\~g\\~",
		"_a_ and __b__ (_c_d_)":             `\_a\_ and \_\_b\_\_ (\_c_d\_)`,
		"# heading":                         `\# heading`,
		"- item":                            `\- item`,
		"12. item":                          `12\. item`,
		"  a  b ":                           "a b",
		`c:\d`:                              `c:\\d`,
	} {
		if got := Markdown(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestFence(t *testing.T) {
	for text, want := range map[string]string{"": "```", "a `b` c": "```", "```\n````": "`````"} {
		if got := Fence(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
