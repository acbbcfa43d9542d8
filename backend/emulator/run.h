// What the emulator of kernels offers to whoever starts them.
#pragma once

#include <cstddef>
#include <functional>

#include "cuda_runtime_api.h"

namespace opcast::device {

// Runs body() for every thread of the grid.
void Run(dim3 grid, dim3 block, size_t shared, const std::function<void()>& body);

}  // namespace opcast::device
