// Package feature lists the features of CPUs that a kernel can ask for.
package feature

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
)

// table has the names that GCC gives to extensions of x86-64, to its option -m and to __builtin_cpu_supports alike. Most of a
// name's CPUs have what stands before it.
var table = strings.Fields(`
	sse3 ssse3 sse4a sse4.1 sse4.2 popcnt lzcnt aes pclmul sha avx xop fma4 f16c fma bmi bmi2 avx2 avxvnni gfni vaes vpclmulqdq
	avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq
	avx512vp2intersect avx512bf16 avx512fp16`)

// Lookup returns the name that compilers know. Underscores do not count: Linux writes avx512_bf16.
func Lookup(word string) (name string, ok bool) {
	name = strings.ReplaceAll(word, "_", "")
	return name, slices.Contains(table, name)
}

// Hint says what an unknown word may stand for.
func Hint(word string) string {
	return diag.DidYouMean(strings.ReplaceAll(word, "_", ""), table, "for example \"avx2\" or [\"avx512f\", \"avx512bf16\"]")
}

// Names are all names that compilers know.
func Names() []string { return slices.Clone(table) }

// Rank orders lists of names that compilers know: one that asks for more than another comes after it.
func Rank(names []string) int {
	rank := 0
	for _, name := range names {
		rank = max(rank, slices.Index(table, name)+1)
	}
	return rank
}
