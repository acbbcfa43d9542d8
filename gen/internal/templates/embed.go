// Package templates carries the templates that serve every framework, and those of the backend and of the pages of docs,
// inside the tool. What is about one framework lies in its folder of adaptors.
package templates

import "embed"

// FS holds every folder under its name.
//
//go:embed */*.tmpl
var FS embed.FS
