package raw

import (
	"regexp"

	"github.com/opcast/opcast/internal/language/dtype"
)

// The words that keys take, for the loader and for the schema.

// Strides are the words of the key of that name.
var Strides = []string{"last", "any"}

// Unchecked is the word of the key contents.
const Unchecked = "unchecked"

// Packed are the dtypes of which an element of an array can hold several.
func Packed() (dtypes []string) {
	for _, row := range dtype.Table {
		if row.Bits < 8 {
			dtypes = append(dtypes, row.Short)
		}
	}
	return dtypes
}

// LSEBases are the bases of a log-sum-exp.
var LSEBases = []string{"e", "2"}

// LSEEmpties are what a log-sum-exp can be of no elements.
var LSEEmpties = []string{"-inf", "inf", "0"}

// IntListPattern is the type of attributes that are lists of integers, with their length if it is fixed.
var IntListPattern = regexp.MustCompile(`^int\[([1-9][0-9]?)?\]$`)

// AttrTypes are the types of attributes; "int[N]" stands for any length.
var AttrTypes = []string{"int", "float", "bool", "str", "dtype", "int[]", "int[N]"}

// VersionPattern is what the key since holds.
var VersionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+)?$`)

// DeprecatedPattern is what the key deprecated holds.
var DeprecatedPattern = regexp.MustCompile(`^use [A-Za-z0-9_ .,()-]+; removed in [0-9]+\.[0-9]+(\.[0-9]+)?$`)
