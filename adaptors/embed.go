// Package adaptors carries the hand-written runtime of the Python adaptors inside the tool, so that a project elsewhere
// builds without this repository.
package adaptors

import "embed"

// FS holds the runtime under its paths in this folder.
//
//go:embed torch/src/opcast_torch/_runtime.py torch/src/opcast_torch/py.typed
//go:embed jax/src/opcast_jax/_runtime.py jax/src/opcast_jax/py.typed jax/csrc/xla_call.h jax/csrc/xla_call.cc
//go:embed numpy/src/opcast_numpy/_runtime.py numpy/src/opcast_numpy/py.typed
//go:embed cupy/src/opcast_cupy/_runtime.py cupy/src/opcast_cupy/py.typed
var FS embed.FS
