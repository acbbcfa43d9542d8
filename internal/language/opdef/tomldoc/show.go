package tomldoc

import (
	"fmt"
	"strconv"
	"strings"
)

// Show prints a TOML value for a message, shortened where it is long.
func Show(value any) string {
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case string:
		text = strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = Show(v[i])
		}
		text = "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		text = "a table"
	}
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:57], "") + "..."
	}
	return text
}
