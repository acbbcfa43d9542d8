package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

// explainCodes prints the page of all codes.
func (a commands) explainCodes() error {
	page, err := code.Page()
	if err == nil {
		_, err = fmt.Fprint(a.Stdout, page)
	}
	return err
}

// meansCode says whether a word is a code. In small letters, it is one unless the project has an op of that name.
func (a commands) meansCode(word string) bool {
	if code.Form.MatchString(word) {
		return true
	}
	if _, ok := code.Explain(strings.ToUpper(word)); !ok {
		return false
	}
	p, _, err := a.Read()
	return err != nil || p == nil || !slices.ContainsFunc(p.Ops, func(op *opdef.Op) bool { return op.Name == word })
}

// explainCode prints what a code means. It needs no project.
func (a commands) explainCode(args []string, asJSON bool) error {
	if len(args) > 1 {
		return app.Usage("a code stands alone, got %q behind it", args[1])
	}
	e, ok := code.Explain(strings.ToUpper(args[0]))
	if !ok {
		var codes []string
		for _, e := range code.All() {
			codes = append(codes, e.Code)
		}
		return app.Usage("there is no code %s (%s)", args[0], diag.DidYouMean(args[0], codes, "opcast explain --all has all of them"))
	}
	if !asJSON {
		_, err := fmt.Fprint(a.Stdout, e.Text())
		return err
	}
	return a.PrintJSON(e)
}
