package opdef

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// keys returns the sorted keys of a map.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// didYouMean returns a hint with the nearest candidate, or otherwise when none is near.
func didYouMean(word string, candidates []string, otherwise string) string {
	if best := nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return otherwise
}

// nearest returns the candidate that a misspelt word most likely means, or "". Of two that are equally near it prefers
// the one with the same first letter.
func nearest(word string, candidates []string) string {
	best, bound := "", min(len(word), max(1, (len(word)+1)/3)+1)
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c), bound+1)
		if d < bound || d == bound && best != "" && word[0] == c[0] && word[0] != best[0] {
			best, bound = c, d
		}
	}
	return best
}

// distance is the number of single-character edits between a and b, or bound where it is at least that.
func distance(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], bound)
}

// oneOf joins words as "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// indefinite puts the article before a noun.
func indefinite(noun string) string {
	if noun != "" && strings.Contains("aeio", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}
