// In the place of CUDA's runtime, for tests of kernels on memory of the host, which a sanitizer
// watches: kernels run at once, on no device.
#include "cuda_runtime.h"
#include "run.h"

namespace emulator {

cudaError_t Launch(const cudaLaunchConfig_t& config, const void*, const std::vector<const void*>&,
                   std::function<void()> body) {
  opcast::device::Run(config.gridDim, config.blockDim, config.dynamicSmemBytes, body);
  return cudaSuccess;
}

}  // namespace emulator

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "no error"; }
