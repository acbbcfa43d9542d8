// How kernels are started with CUDA's runtime.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "opcast/launch.h"
#include "opcast/start.h"

namespace opcast::device {

// Writes the attributes that the options ask for, three at most, and returns how many there are.
inline unsigned Attributes(const StartOptions& options, cudaLaunchAttribute* to) {
  unsigned count = 0;
  if (options.cluster > 1) {
    cudaLaunchAttribute& a = to[count++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = options.cluster;
    a.val.clusterDim.y = a.val.clusterDim.z = 1;
  }
  if (options.cooperative) {
    cudaLaunchAttribute& a = to[count++];
    a.id = cudaLaunchAttributeCooperative;
    a.val.cooperative = 1;
  }
  if (options.overlaps) {
    cudaLaunchAttribute& a = to[count++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  return count;
}

template <class... Parameters>
Status Start(const StartOptions& options, void (*kernel)(Parameters...), dim3 grid, dim3 block,
             size_t shared, const Launch& launch, Parameters... values) {
  constexpr size_t kUnasked = 48 << 10;  // larger blocks of shared memory must be asked for
  cudaError_t error = cudaSuccess;
  if (shared > kUnasked)
    error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error == cudaSuccess) {
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = static_cast<cudaStream_t>(launch.stream);
    config.attrs = attributes;
    config.numAttrs = Attributes(options, attributes);
    error = cudaLaunchKernelEx(&config, kernel, values...);
  }
  if (error == cudaSuccess) return Status::Ok();
  cudaGetLastError();  // or the caller's framework would find our error in its next call
  return Status::Error(std::string("kernel launch: ") + cudaGetErrorString(error));
}

}  // namespace opcast::device
