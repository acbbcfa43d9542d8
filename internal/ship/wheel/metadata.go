package wheel

import (
	"fmt"
	"slices"
	"strings"
)

// metadata is the file METADATA: headers as in a mail, then the description.
func (d *Distribution) metadata() []byte {
	var out strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&out, "%s: %s\n", key, value)
		}
	}
	line("Metadata-Version", "2.4") // the first one with expressions and files of licenses
	line("Name", d.Name)
	line("Version", normal(d.Version))
	line("Summary", d.Summary)
	line("License-Expression", d.License)
	var names []string
	for _, license := range d.Licenses {
		names = append(names, license.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		line("License-File", name)
	}
	if d.Typed {
		line("Classifier", "Typing :: Typed")
	}
	line("Requires-Python", d.RequiresPython)
	for _, requirement := range d.Requires {
		line("Requires-Dist", requirement)
	}
	for _, extra := range d.Extras {
		line("Provides-Extra", extra.Name)
		for _, requirement := range extra.Requires {
			line("Requires-Dist", fmt.Sprintf("%s; extra == %q", requirement, extra.Name))
		}
	}
	line("Description-Content-Type", "text/markdown; charset=UTF-8")
	text := d.Readme
	if strings.TrimSpace(text) == "" {
		text = d.Summary + ".\n"
	}
	return []byte(out.String() + "\n" + text)
}

// wheel is the file WHEEL, which says how to install the archive. It spells a tag of several platforms out.
func (d *Distribution) wheel() []byte {
	out := fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: opcast\nRoot-Is-Purelib: %t\n", d.Platform == anyPlatform)
	for platform := range strings.SplitSeq(d.Platform, ".") {
		out = fmt.Appendf(out, "Tag: py3-none-%s\n", platform)
	}
	return out
}
