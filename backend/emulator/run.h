// What the emulator of kernels offers to whoever starts them.
#pragma once

#include <cstddef>
#include <functional>

#include "control.h"
#include "dim3.h"

namespace opcast::device {

// Runs body() for every thread of the grid.
void Run(dim3 grid, dim3 block, size_t shared, const std::function<void()>& body);

// Has a launch, whose sizes are known, run body() for every thread of its grid.
void Bind(std::function<void()> body, EmulatedLaunch* launch);

}  // namespace opcast::device
