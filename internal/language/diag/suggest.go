package diag

import (
	"fmt"
	"slices"
	"strings"
)

// maxWord is the length of the longest word that is compared: the work grows with the product of two lengths.
const maxWord = 64

// DidYouMean returns a hint that names the candidate which a misspelt word most likely means. Where no candidate is near,
// it returns the text of otherwise.
func DidYouMean(word string, candidates []string, otherwise string) string {
	if best := Nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return otherwise
}

// Nearest returns the candidate that a misspelt word most likely means, or "". Of two that are equally near it prefers
// the one with the same first letter. Where none is near, the only one that begins in the same way is meant: "attrs" by
// "attributes".
func Nearest(word string, candidates []string) string {
	best, bound := "", min(len(word), max(1, len(word)/3)+1)
	for _, c := range candidates {
		if c == "" || len(c) > maxWord || len(word) > maxWord {
			continue
		}
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bound || d == bound && best != "" && c[:1] == word[:1] && best[:1] != word[:1] {
			best, bound = c, d
		}
	}
	if best != "" || len(word) < sameStart {
		return best
	}
	alike := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, word[:sameStart]) })
	if len(alike) == 1 {
		return alike[0]
	}
	return ""
}

// sameStart is how many letters words begin with that begin in the same way.
const sameStart = 4

// distance is the number of edits between a and b: a character more, less or other, or two neighbours swapped.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// OneOf joins words for a message: "a, b or c".
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Indefinite puts the indefinite article before a noun: "an input", "a size".
func Indefinite(noun string) string {
	if noun != "" && strings.Contains("aeio", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}
