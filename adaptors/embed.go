// Package adaptors carries the hand-written runtime of the Python adaptors inside the tool, so that a project elsewhere
// builds without this repository.
package adaptors

import "embed"

// FS holds the runtime under its paths in this folder.
//
//go:embed torch/src/opcast_torch/_runtime.py torch/src/opcast_torch/_overload.py torch/src/opcast_torch/_state.py
//go:embed torch/src/opcast_torch/_framework.py torch/src/opcast_torch/_autocast.py torch/src/opcast_torch/_autograd.py
//go:embed torch/src/opcast_torch/_batching.py torch/src/opcast_torch/_results.py torch/src/opcast_torch/_sharding.py torch/src/opcast_torch/py.typed
//go:embed jax/src/opcast_jax/_runtime.py jax/src/opcast_jax/_arrays.py jax/src/opcast_jax/_call.py
//go:embed jax/src/opcast_jax/_derivative.py jax/src/opcast_jax/_batching.py jax/src/opcast_jax/_sharding.py
//go:embed jax/src/opcast_jax/py.typed jax/csrc/xla_call.h jax/csrc/xla_call.cc jax/csrc/xla_arguments.h
//go:embed numpy/src/opcast_numpy/_runtime.py numpy/src/opcast_numpy/py.typed
//go:embed cupy/src/opcast_cupy/_runtime.py cupy/src/opcast_cupy/py.typed
var FS embed.FS
