package migrate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

var (
	camel    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	noLetter = regexp.MustCompile(`[^A-Za-z0-9]+`)
	// Launchers are named after what they launch.
	launcher = regexp.MustCompile(`^(launch|invoke|run|call)_|_(launcher|launch|kernel|wrapper|cuda|gpu|cpu|host|op)$`)
)

// opName is the name of the op that a function becomes.
func opName(name string) string {
	name = strings.ToLower(strings.Trim(noLetter.ReplaceAllString(camel.ReplaceAllString(name, "${1}_${2}"), "_"), "_"))
	for launcher.MatchString(name) {
		name = launcher.ReplaceAllString(name, "")
	}
	for _, candidate := range []string{name, name + "_op", "op_" + name} {
		if names.CheckOp(candidate) == nil {
			return candidate
		}
	}
	return "op_" + noLetter.ReplaceAllString(strings.Trim(fmt.Sprintf("%.40q", name), `"`), "")
}

// substitutes are better names than those with an ending, for names that frameworks or generated code have taken.
var substitutes = map[string]string{"input": "x", "self": "x", "out": "y", "stream": "lane", "device": "place", "batch": "rows"}

// free is a name that an argument or a size can have, as near to the wanted one as that goes.
func (o *op) free(wanted string) string {
	name := strings.Trim(noLetter.ReplaceAllString(wanted, "_"), "_")
	if len(name) > names.MaxLength-8 {
		name = name[:names.MaxLength-8]
		name = strings.Trim(name, "_")
	}
	if !names.IsIdentifier(name) {
		name = strings.Trim("arg_"+name, "_")
	}
	if names.WhyReserved(name) != "" {
		if s := substitutes[name]; s != "" && !o.used[s] {
			name = s
		} else if name += "_arg"; names.WhyReserved(name) != "" { // whatever begins in this way
			name = "arg_" + name
		}
	}
	base := name
	for i := o.next[base]; o.used[name] || names.WhyReserved(name) != ""; i++ {
		name = fmt.Sprintf("%s_%d", base, i+2)
		o.next[base] = i + 1
	}
	o.used[name] = true
	if wanted != "" && name != wanted {
		o.renamed = append(o.renamed, wanted+" is "+name)
	}
	return name
}

// outWords are names of results.
const outWords = `(out|outs|output|outputs|y|dst|dest|result|results|res|ret|o)\d*`

var (
	outLike    = regexp.MustCompile(`(?i)(^|_)` + outWords + `(_|$)`)
	outName    = regexp.MustCompile(`(?i)^` + outWords + `_?$`)
	inOutLike  = regexp.MustCompile(`(?i)(^|_)(inout|cache|caches|residual|state|states|x|in|input|q|k|query|key|data|params?)\d*(_|$)`)
	weightLike = regexp.MustCompile(`(?i)(^|_)(weights?|w|gamma|beta|bias|scales?|g|b)_?$`)
	indexLike  = regexp.MustCompile(`(?i)(^|_)(idx|index|indices|ids?|slots?|mapping|positions?|pos|offsets?|indptr|lens?|lengths?|seqlens?|tables?|counts?|labels?|targets?)(_|$)`)
	sizeLike   = regexp.MustCompile(`(?i)^(n|m|k|b|s|t|h|d|c|w|l|nnz)$|(^|_)(rows?|cols?|columns?|batch|batches|tokens?|hidden|heads?|width|height|channels?|size|len|length|count|numel|num|n|dims?|features?|seqlen|elements?)(_|$)`)
)
