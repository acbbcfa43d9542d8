package flashinfer

import (
	"regexp"
	"strconv"
	"strings"
)

// parameters are those of the formula: their defaults as they are written, "" for none.
func (d *Definition) parameters() map[string]string {
	at := regexp.MustCompile(`(?m)^def ` + d.Formula() + `\s*\(`).FindStringIndex(d.Reference)
	out := map[string]string{}
	if at == nil {
		return out
	}
	for _, text := range split(d.Reference[at[1]:]) {
		name, value := text, ""
		if i := outside(text, '='); i >= 0 {
			name, value = text[:i], strings.TrimSpace(text[i+1:])
		}
		name, _, _ = strings.Cut(name, ":")
		out[strings.TrimSpace(name)] = value
	}
	return out
}

var comment = regexp.MustCompile(`(?m)#.*$`)

// split are the texts between the commas up to the bracket that closes, without comments.
func split(text string) (parts []string) {
	depth, start := 0, 0
	text = comment.ReplaceAllString(text, "")
	for i, r := range text {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r) && depth == 0:
			return append(parts, text[start:i])
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return parts
}

// outside is the place of a character that no bracket encloses, -1 if there is none.
func outside(text string, wanted rune) int {
	depth := 0
	for i, r := range text {
		switch {
		case r == wanted && depth == 0:
			return i
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		}
	}
	return -1
}

// required says whether the formula has a parameter of the name without a default.
func (d *Definition) required(parameter string) bool {
	value, known := d.parameters()[parameter]
	return known && value == ""
}

// preset is the number or truth value that the formula has as the default of a parameter, for an attribute of the given type; "" if it
// has none that fits.
func (d *Definition) preset(parameter, attr string) string {
	value := strings.ReplaceAll(d.parameters()[parameter], "_", "")
	number, err := strconv.ParseFloat(value, 64)
	truth := value == "True" || value == "False"
	switch {
	case attr == "bool" && truth:
		return strings.ToLower(value)
	case attr == "int" && truth: // FlashInfer records truth values as integers
		return map[string]string{"True": "1", "False": "0"}[value]
	case err != nil, attr == "int" && number != float64(int64(number)):
		return ""
	case attr == "int":
		return strconv.FormatInt(int64(number), 10)
	case attr == "float" && number-number == 0:
		return strconv.FormatFloat(number, 'g', -1, 64)
	}
	return ""
}
