// Package adaptors carries the frameworks inside the tool. Each framework is one folder that bears its name, and nothing
// else lists them. Of such a folder the tool needs:
//
//   - adaptor.toml: what it has to know about the framework;
//   - templates: what it renders for every op;
//   - src and csrc: the hand-written part of the package, which a project elsewhere gets as a copy, so that it builds
//     without this repository. In src these are py.typed and the folder _runtime;
//   - opcast_worker: how the conformance suite calls the package;
//   - mutants.toml, where there is one: which errors `opcast mutants` plants into the package.
package adaptors

import "embed"

// FS holds the frameworks under their paths in this folder.
//
//go:embed */adaptor.toml */templates/*.tmpl */src/*/_runtime/*.py */src/*/py.typed */csrc/*.h */csrc/*.cc */opcast_worker/*.py */mutants.toml
var FS embed.FS
