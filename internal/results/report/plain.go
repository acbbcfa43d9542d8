package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain makes text fit for a terminal. Reasons come from strangers, whose control characters would move the cursor, colour
// what follows or turn the order of letters around: all but ends of lines and tabs are shown as what they are.
func Plain(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		case r <= unicode.MaxLatin1:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
