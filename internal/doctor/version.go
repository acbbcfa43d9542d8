package doctor

import (
	"strconv"
	"strings"
)

// older says whether a version is below another one, as far as their numbers tell: "2.9.1" is older than "2.10".
func older(version, least string) bool {
	have, need := numbers(version), numbers(least)
	for i := range need {
		if i >= len(have) {
			return need[i] > 0
		}
		if have[i] != need[i] {
			return have[i] < need[i]
		}
	}
	return false
}

// numbers are the numbers with which a version begins; what follows, such as "rc1" and "+cpu", decides nothing here.
func numbers(version string) (out []int) {
	for part := range strings.SplitSeq(version, ".") {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(part)
		}
		n, err := strconv.Atoi(part[:end])
		if err != nil {
			return out
		}
		if out = append(out, n); end < len(part) {
			return out
		}
	}
	return out
}
