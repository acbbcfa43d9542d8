// Package templates carries the templates of generated files, and what the generator has to know about each framework,
// inside the tool. A framework is a folder with adaptor.toml: nothing else here or elsewhere lists the frameworks.
package templates

import "embed"

// FS holds every folder under its name. The prefix keeps files whose names begin with an underscore.
//
//go:embed all:*/*
var FS embed.FS
