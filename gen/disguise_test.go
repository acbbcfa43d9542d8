package gen_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/testkit/randomop"
)

// made is a name that package randomop gives, with the prefixes and the suffix that it has in derivatives, lets and kernels.
var (
	made = regexp.MustCompile(`^((?:(?:grad|tangent)\d*_)*)(op\d+|[xyal]\d|space\d?|[A-Z]|marks|marked|count|slope|late)((?:_\d+|_size|_way\d|_backward|_forward)*)$`)
	docs = regexp.MustCompile(`doc = "[^"]*"`)
	kind = regexp.MustCompile(`(?m)^kind = \d+$`)
)

// disguised are ops of package randomop under nasty names, with nasty texts. What they compute is of no interest here: their
// definitions go over the whole language.
func (d *drawer) disguised(ops []*randomop.Op) (list []drawn) {
	d.used = map[string]bool{}
	words := map[string]string{}
	rename := func(name string) string {
		parts := made.FindStringSubmatch(name)
		if parts == nil {
			return name
		}
		plain := parts[2]
		if words[plain] == "" {
			if words[plain] = d.word(); strings.HasPrefix(plain, "op") {
				words[plain] = d.opName()
			}
		}
		return parts[1] + words[plain] + parts[3]
	}
	for _, op := range ops {
		d.kind++
		text := kind.ReplaceAllString(docs.ReplaceAllString(op.TOML(), "doc = 0"), fmt.Sprintf("kind = %d", d.kind))
		text = identifier.ReplaceAllStringFunc(text, rename)
		for strings.Contains(text, "doc = 0") {
			text = strings.Replace(text, "doc = 0", "doc = "+d.doc(), 1)
		}
		list = append(list, drawn{rename(op.Name), text})
	}
	return list
}
