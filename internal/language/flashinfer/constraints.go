package flashinfer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/expr"
)

var (
	equality = regexp.MustCompile(`^(\w+) == ([^=<>!]+)$`)
	logic    = regexp.MustCompile(`\b(and|or|not|if)\b`)
	quotient = regexp.MustCompile(`^(\w+)_(div|mul)_(\w+)$`)
)

// constrain decides what the axes are, and which conditions remain.
func (s *signature) constrain() *signature {
	constants := s.def.constants()
	for _, axis := range s.def.axes() {
		s.sizes[axis] = s.axes[axis]
		if n, constant := constants[axis]; constant {
			s.sizes[axis] = strconv.FormatInt(n, 10)
		} else if m := quotient.FindStringSubmatch(axis); m != nil {
			s.sizes[axis] = computed(constants, m, s.sizes[axis])
		}
	}
	for _, text := range s.def.Constraints {
		s.constraint(strings.TrimSpace(text))
	}
	return s
}

// computed is the size of an axis such as K_div_2, whose name says what it is.
func computed(constants map[string]int64, m []string, otherwise string) string {
	value := func(name string) (int64, bool) {
		if n, err := strconv.ParseInt(name, 10, 64); err == nil {
			return n, n > 0
		}
		n, known := constants[name]
		return n, known && n > 0
	}
	a, first := value(m[1])
	b, second := value(m[3])
	switch {
	case !first || !second:
		return otherwise
	case m[2] == "mul":
		return strconv.FormatInt(a*b, 10)
	}
	return strconv.FormatInt(a/b, 10)
}

// constraint takes a condition: as what an axis is, as one that calls must meet, or not at all.
func (s *signature) constraint(text string) {
	if endPattern.MatchString(text) {
		return // contents: samples keep it
	}
	text = shaped.ReplaceAllStringFunc(text, s.axisOf)
	if m := equality.FindStringSubmatch(text); m != nil && !logic.MatchString(m[2]) && s.axes[m[1]] != "" && s.sizes[m[1]] == s.axes[m[1]] && s.known(m[2]) {
		right, err := expr.Parse(word.ReplaceAllStringFunc(m[2], s.size))
		if err == nil && !slices.Contains(right.Symbols(), s.axes[m[1]]) {
			s.define(m[1], right.Text)
			return
		}
	}
	translated := word.ReplaceAllStringFunc(text, s.size)
	parsed, err := expr.Parse(translated)
	switch {
	case err == nil && parsed.Op == expr.OpEq && s.solve(parsed.Args[0], parsed.Args[1]):
	case err != nil || !s.known(text):
		s.notes = append(s.notes, fmt.Sprintf("the constraint %q is left out", text))
	case len(parsed.Symbols()) > 0:
		s.requires = append(s.requires, translated)
	}
}

var shaped = regexp.MustCompile(`(\w+)\.shape\[(-?\d+)\]`)

// axisOf is the axis that "x.shape[1]" names.
func (s *signature) axisOf(text string) string {
	m := shaped.FindStringSubmatch(text)
	shape := s.def.Inputs.By[m[1]].Shape
	i, err := strconv.Atoi(m[2])
	if i < 0 {
		i += len(shape)
	}
	if err != nil || i < 0 || i >= len(shape) {
		return text
	}
	return shape[i]
}

// solve takes from an equation what an axis is that no input has.
func (s *signature) solve(left, right *expr.Expr) bool {
	for _, axis := range s.def.axes() {
		name := s.axes[axis]
		if name == "" || s.sizes[axis] != name || s.def.bound(axis) {
			continue
		}
		coef, rest, linear := expr.Linear(right, name)
		if linear && coef.Op == expr.OpConst && coef.Value > 0 && !slices.Contains(left.Symbols(), name) {
			meaning := fmt.Sprintf("(%s - (%s)) // %d", left.Text, rest.Text, coef.Value)
			if left.Op == expr.OpConst && rest.Op == expr.OpConst {
				meaning = strconv.FormatInt((left.Value-rest.Value)/coef.Value, 10)
			}
			s.define(axis, meaning)
			return true
		}
	}
	return false
}

// define replaces an axis by what it is, here and where others are made of it.
func (s *signature) define(axis, meaning string) {
	name := s.axes[axis]
	for other, size := range s.sizes {
		s.sizes[other] = word.ReplaceAllStringFunc(size, func(w string) string {
			switch {
			case w == name && size == name:
				return meaning
			case w == name:
				return "(" + meaning + ")"
			}
			return w
		})
	}
}

// size is what a word of an expression is here: a size, an argument, or a word such as "and".
func (s *signature) size(w string) string {
	if size, axis := s.sizes[w]; axis {
		if word.FindString(size) == size || strings.Trim(size, "0123456789") == "" {
			return size
		}
		return "(" + size + ")"
	}
	if name := s.inputs[w]; name != "" {
		return name
	}
	return w
}

// known says whether all words of a condition are sizes, numbers that are given, or words of conditions.
func (s *signature) known(text string) bool {
	for _, w := range word.FindAllString(text, -1) {
		_, axis := s.sizes[w]
		axis = axis && (s.def.bound(w) || s.axes[w] != s.sizes[w])
		if !axis && s.attr(w) != "int" && !slices.Contains([]string{"and", "or", "not", "min", "max"}, w) {
			return false
		}
	}
	return true
}
