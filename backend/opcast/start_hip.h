// How kernels are started with HIP's runtime.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "opcast/launch.h"
#include "opcast/start.h"

namespace opcast::device {

// Calls HIP, which is opened at run time; in gpu_hip.hip. There are no clusters, and kernels of a
// stream do not overlap.
Status StartKernel(const StartOptions& options, const void* kernel, dim3 grid, dim3 block,
                   void** arguments, size_t shared, void* stream);

}  // namespace opcast::device
