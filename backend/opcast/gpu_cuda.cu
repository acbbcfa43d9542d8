// gpu.h for CUDA, with the runtime API. The runtime is linked statically and finds the driver when
// it is first called, so the library loads on machines without one.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "opcast/gpu.h"

namespace opcast::gpu {
namespace {

// An error of the runtime stays for the next caller of cudaGetLastError, who may be the framework:
// it is taken away.
std::string Text(cudaError_t error) {
  cudaGetLastError();
  return cudaGetErrorString(error);
}

Status Checked(cudaError_t error) {
  return error == cudaSuccess ? Status::Ok() : Status::Error(Text(error));
}

cudaError_t Ask(int device, int* arch, int* sm_count) {
  int count = 0, major = 0, minor = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && (device < 0 || device >= count)) error = cudaErrorInvalidDevice;
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(sm_count, cudaDevAttrMultiProcessorCount, device);
  *arch = 10 * major + minor;
  return error;
}

}  // namespace

Properties PropertiesOf(int device) {
  constexpr int kDevices = 64, kShift = 1 << 16;
  static std::atomic<int64_t> known[kDevices];  // both numbers in one
  const bool cached = device >= 0 && device < kDevices;
  const int64_t both = cached ? known[device].load(std::memory_order_relaxed) : 0;
  if (both != 0) return {static_cast<int>(both / kShift), static_cast<int>(both % kShift), ""};
  int arch = 0, sm_count = 0;
  const cudaError_t error = Ask(device, &arch, &sm_count);
  if (error != cudaSuccess) return {0, 0, Text(error)};
  if (cached) known[device].store(int64_t{arch} * kShift + sm_count, std::memory_order_relaxed);
  return {arch, sm_count, ""};
}

DeviceGuard::DeviceGuard(int device) {
  int current = device;
  status_ = Checked(cudaGetDevice(&current));
  if (!status_.ok() || current == device) return;
  status_ = Checked(cudaSetDevice(device));
  if (status_.ok()) saved_ = current;
}

DeviceGuard::~DeviceGuard() {
  if (saved_ >= 0) Checked(cudaSetDevice(saved_));
}

Status Zero(void* data, size_t bytes, void* stream) {
  return Checked(cudaMemsetAsync(data, 0, bytes, static_cast<cudaStream_t>(stream)));
}

Status Read(void* host, const void* device, size_t bytes, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const cudaError_t error = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, on);
  return Checked(error == cudaSuccess ? cudaStreamSynchronize(on) : error);
}

}  // namespace opcast::gpu
