// Package backend carries the hand-written runtime of a collection inside the tool, so that a project elsewhere builds
// without this repository.
package backend

import "embed"

// FS holds the runtime under its paths in this folder: opcast/ is the C++ runtime, python/ the hand-written part of the
// backend's Python package.
//
//go:embed opcast/*.h opcast/*.cc
//go:embed python/src/opcast_backend/__init__.py python/src/opcast_backend/_explain.py
//go:embed python/src/opcast_backend/_memory.py python/src/opcast_backend/_meta.py
//go:embed python/src/opcast_backend/_rules.py python/src/opcast_backend/py.typed
var FS embed.FS
