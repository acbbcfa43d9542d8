// Package backend carries the hand-written runtime of a collection inside the tool, so that a project elsewhere builds
// without this repository.
package backend

import "embed"

// FS holds the runtime under its paths in this folder: opcast/ is the C++ runtime, python/ the hand-written part of the
// backend's Python package.
//
//go:embed opcast/*.h opcast/*.cc opcast/*.cu
//go:embed python/src/opcast_backend/__init__.py python/src/opcast_backend/_explain.py
//go:embed python/src/opcast_backend/_memory.py python/src/opcast_backend/_meta.py
//go:embed python/src/opcast_backend/_arrays.py python/src/opcast_backend/_op_call.py
//go:embed python/src/opcast_backend/_build.py python/src/opcast_backend/_tools.py
//go:embed python/src/opcast_backend/_cache.py
//go:embed python/src/opcast_backend/_faults.py python/src/opcast_backend/_framework.py python/src/opcast_backend/_globals.py
//go:embed python/src/opcast_backend/_kernels.py python/src/opcast_backend/_library.py
//go:embed python/src/opcast_backend/_register.py python/src/opcast_backend/_rules.py
//go:embed python/src/opcast_backend/_slow.py
//go:embed python/src/opcast_backend/_variants.py python/src/opcast_backend/_views.py
//go:embed python/src/opcast_backend/py.typed
var FS embed.FS

// Runner holds, in its folder runner, the program that runs one call without Python.
//
//go:embed runner/*.h runner/*.cc
var Runner embed.FS
