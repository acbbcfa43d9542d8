// Package version orders versions as Python's installers do (PEP 440): those of distributions and interpreters, and the numbers in
// the versions of symbols, which are a part of that.
package version

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// pattern has the parts of PEP 440, with its other spellings: epoch, release, pre, post (two spellings), dev and local.
var pattern = regexp.MustCompile(`(?i)^v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
	`(?:[-_.]?(alpha|beta|preview|pre|a|b|c|rc)[-_.]?(\d*))?` +
	`(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?` +
	`(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// stages are the spellings of pre-releases, by what stands for them.
var stages = map[string]string{"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}

// parsed is a version in parts that compare as numbers, digits without the zeros before them.
type parsed struct {
	epoch     string
	release   []string
	stage     string // of a pre-release; above all stages for none, and below them for a development before any
	pre, post string
	dev       string
	local     []string
}

// The places of what is left out: "1.0.dev1" comes before "1.0a1", that before "1.0", and that before "1.0.post1".
const first, last = "", "~"

func parse(text string) (p parsed, ok bool) {
	m := pattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return p, false
	}
	for i := range m {
		m[i] = strings.ToLower(m[i])
	}
	p = parsed{epoch: m[1], release: strings.Split(m[2], "."), stage: last, pre: m[4], post: first, dev: last}
	for len(p.release) > 1 && strings.Trim(p.release[len(p.release)-1], "0") == "" {
		p.release = p.release[:len(p.release)-1]
	}
	if m[3] != "" {
		p.stage = cmp.Or(stages[m[3]], m[3])
	}
	if m[5] != "" || m[6] != "" {
		p.post = cmp.Or(m[5], m[7], "0")
	}
	if m[8] != "" {
		if p.dev = cmp.Or(m[9], "0"); m[3] == "" && p.post == first {
			p.stage = first
		}
	}
	if m[10] != "" {
		p.local = regexp.MustCompile(`[-_.]`).Split(m[10], -1)
	}
	return p, true
}

// Valid says whether a text is a version.
func Valid(text string) bool {
	_, ok := parse(text)
	return ok
}

// Compare orders two versions. A text that is none comes before all that are, and among its like as a text.
func Compare(a, b string) int {
	x, okX := parse(a)
	y, okY := parse(b)
	if !okX || !okY {
		rank := map[bool]int{true: 1}
		return cmp.Or(cmp.Compare(rank[okX], rank[okY]), strings.Compare(a, b))
	}
	return cmp.Or(
		number(x.epoch, y.epoch), slices.CompareFunc(x.release, y.release, number), strings.Compare(x.stage, y.stage),
		number(x.pre, y.pre), place(x.post, y.post), place(x.dev, y.dev), slices.CompareFunc(x.local, y.local, segment))
}

// Older says whether a version is below another one.
func Older(version, least string) bool { return Compare(version, least) < 0 }

// number compares digits of any length; none are 0.
func number(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// place compares parts that may be left out, which differs from 0.
func place(a, b string) int {
	rank := map[string]int{first: math.MinInt, last: math.MaxInt}
	return cmp.Or(cmp.Compare(rank[a], rank[b]), number(a, b))
}

// segment compares parts of local versions: words come before numbers.
func segment(a, b string) int {
	digits := func(s string) int {
		if strings.Trim(s, "0123456789") == "" {
			return 1
		}
		return 0
	}
	if c := cmp.Compare(digits(a), digits(b)); c != 0 || digits(a) == 0 {
		return cmp.Or(c, strings.Compare(a, b))
	}
	return number(a, b)
}

// Satisfies says whether a version is within the bounds of a requirement: ">=0.1.13,<0.2". It knows the comparisons that
// collections write: >=, >, <=, < and ==. Any other bound is kept, since nothing is known of it. As everywhere with PEP 440, a local
// version keeps the bounds of the public one, and "<0.2" excludes 0.2's own pre-releases.
func Satisfies(version, bounds string) bool {
	public, _, _ := strings.Cut(version, "+")
	for bound := range strings.SplitSeq(bounds, ",") {
		bound = strings.TrimSpace(bound)
		end := strings.IndexFunc(bound, func(r rune) bool { return !strings.ContainsRune("<>=!~", r) })
		if end < 0 {
			continue
		}
		limit := strings.TrimSpace(bound[end:])
		c, keeps := Compare(public, limit), true
		switch bound[:end] {
		case ">=":
			keeps = c >= 0
		case ">":
			keeps = c > 0
		case "<=":
			keeps = c <= 0
		case "<":
			keeps = c < 0 && (preRelease(limit) || !preRelease(public) || !sameRelease(public, limit))
		case "==":
			keeps = c == 0 || strings.HasSuffix(limit, ".*")
		}
		if !keeps {
			return false
		}
	}
	return true
}

// preRelease says whether a version comes before its release.
func preRelease(text string) bool {
	p, ok := parse(text)
	return ok && (p.stage != last || p.dev != last)
}

func sameRelease(a, b string) bool {
	x, _ := parse(a)
	y, _ := parse(b)
	return number(x.epoch, y.epoch) == 0 && slices.CompareFunc(x.release, y.release, number) == 0
}
