// Package backend carries the hand-written runtime of a collection inside the tool, so that a project elsewhere builds
// without this repository.
package backend

import "embed"

// FS holds the runtime under its paths in this folder: opcast/ is the C++ runtime, emulator/ the devices on which kernels
// for GPUs run without one, python/ the hand-written part of the backend's Python package. What is generated for this
// repository's ops is in folders of its own.
//
//go:embed emulator/*.h emulator/hip/*.h emulator/*.cc opcast/*.h opcast/*.cc opcast/*.cu opcast/*.hip python/src/opcast_backend/*.py python/src/opcast_backend/py.typed
var FS embed.FS

// Recorder holds, in its folder recorder, a CUDA device on which nothing runs, and which records what would.
//
//go:embed recorder/*.h recorder/*.cc
var Recorder embed.FS

// Runner holds, in its folder runner, the program that runs one call without Python.
//
//go:embed runner/*.h runner/*.cc
var Runner embed.FS
