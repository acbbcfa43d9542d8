package flashinfer

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	called    = regexp.MustCompile(`(?m)(?:^|[^\w.])(_[A-Za-z]\w*)\(`)
	constant  = regexp.MustCompile(`(?m)(?:^|[^\w."'])(_[A-Z][A-Z0-9_]*)\b`)
	defined   = regexp.MustCompile(`(?m)^\s*(?:def|class)\s+(\w+)|(\w+)\s*(?::[^=\n]*)?=[^=]|import\s+(\w+)|\bas\s+(\w+)`)
	statement = regexp.MustCompile(`(?m)^(?:@|def |class |[A-Za-z_]\w*\s*(?::[^=\n]*)?=|if |try:|for |import |from |with )`)
)

// Helpers is the module that a reference needs beside it: functions and constants of its authors that it uses and lacks, taken from
// the given sources in Python. It is empty if nothing is missing; the error names what no source defines.
func (d *Definition) Helpers(sources []string) (module string, err error) {
	var blocks []string
	for {
		missing := missing(d.Reference + "\n" + strings.Join(blocks, "\n"))
		if missing == "" {
			break
		}
		block := find(missing, sources)
		if block == "" {
			return "", fmt.Errorf("its reference uses %s, which it does not define: add the file in Python that does by --from", missing)
		}
		blocks = append([]string{block}, blocks...)
	}
	if len(blocks) == 0 {
		return "", nil
	}
	return imports(strings.Join(blocks, "\n\n")), nil
}

// imports is a module with the imports before its text that this needs.
func imports(text string) string {
	var b strings.Builder
	b.WriteString("\"\"\"What the reference uses, from its authors.\"\"\"\n\nfrom __future__ import annotations\n\n")
	for _, statement := range []string{
		"import math", "import torch", "import torch.nn.functional as F", "from typing import Optional", "from typing import Tuple",
	} {
		name := statement[strings.LastIndex(statement, " ")+1:]
		if regexp.MustCompile(`\b` + name + `[.\[]`).MatchString(text) {
			b.WriteString(statement + "\n")
		}
	}
	return b.String() + "\n\n" + text
}

// missing is a function whose name begins with "_", or a constant, that a text uses and does not define; "" if there is none.
func missing(text string) string {
	known := map[string]bool{}
	for _, m := range defined.FindAllStringSubmatch(text, -1) {
		for _, name := range m[1:] {
			known[name] = true
		}
	}
	for _, pattern := range []*regexp.Regexp{called, constant} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] {
				return m[1]
			}
		}
	}
	return ""
}

// find is the statement of a source that defines a name, with its decorators; "" if no source does.
func find(name string, sources []string) string {
	pattern := regexp.MustCompile(`(?m)^(?:@\S.*\n)*(?:def ` + name + `\(|` + name + `\s*(?::[^=\n]*)?=)`)
	for _, source := range sources {
		at := pattern.FindStringIndex(source)
		if at == nil {
			continue
		}
		rest := source[at[1]:]
		if next := statement.FindStringIndex(rest); next != nil {
			rest = rest[:next[0]]
		}
		lines := strings.Split(source[at[0]:at[1]]+rest, "\n")
		for len(lines) > 1 && (strings.TrimSpace(lines[len(lines)-1]) == "" || strings.HasPrefix(lines[len(lines)-1], "#")) {
			lines = lines[:len(lines)-1]
		}
		return strings.Join(lines, "\n") + "\n"
	}
	return ""
}
