package e2e

import (
	"embed"
	"testing"
)

//go:embed *_properties.py
var propertyScripts embed.FS

// Ops that belong together fit each other, whatever the numbers are: what one groups, another one takes apart; any number of
// splits gives the whole. A script for each family says what, and prints how often it compared.
func TestPropertiesOfFamilies(t *testing.T) {
	t.Parallel()
	for family, want := range map[string]string{
		"attention": "204", "moe": "40", "quant": "214650", "sampling": "3306302",
	} {
		script, err := propertyScripts.ReadFile(family + "_properties.py")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(family, func(t *testing.T) { compareWithEach(t, want, string(script)) })
	}
}
