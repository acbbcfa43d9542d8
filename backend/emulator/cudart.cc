// CUDA's runtime on the emulated driver.
#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>

#include "control.h"
#include "cuda_runtime.h"
#include "run.h"

namespace emulator {
namespace {

// The driver of the process; null if it has none, or one that is not emulated.
void* OpenDriver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library != nullptr && dlsym(library, "cuEmulatorLaunch") != nullptr ? library : nullptr;
}
void* Driver() {
  static void* const library = OpenDriver();
  return library;
}

thread_local cudaError_t last = cudaSuccess;
thread_local int chosen = 0;  // the device of a thread without a context

cudaError_t Keep(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

// Calls a function of the driver by its name.
template <class Function, class... Values>
cudaError_t Ask(const char* name, Values... values) {
  if (Driver() == nullptr) return Keep(cudaErrorInsufficientDriver);
  auto* const function = reinterpret_cast<Function*>(dlsym(Driver(), name));
  return Keep(static_cast<cudaError_t>(static_cast<int>(function(values...))));
}
#define ASK(function, ...) ::emulator::Ask<decltype(function)>(#function, __VA_ARGS__)

cudaError_t Begin() {
  static std::atomic<bool> begun{false};
  if (begun) return cudaSuccess;
  const cudaError_t error = ASK(cuInit, 0U);
  begun = error == cudaSuccess;
  return error;
}

// Makes the primary context of a device current. The runtime keeps it for the life of the process.
cudaError_t Use(int device) {
  constexpr int kDevices = 64;
  static std::atomic<CUcontext> contexts[kDevices];
  CUdevice there = 0;
  cudaError_t error = ASK(cuDeviceGet, &there, device);
  if (error != cudaSuccess || device >= kDevices) return error;
  CUcontext context = contexts[device];
  if (context == nullptr) {
    error = ASK(cuDevicePrimaryCtxRetain, &context, there);
    if (error != cudaSuccess) return error;
    contexts[device] = context;
  }
  return ASK(cuCtxSetCurrent, context);
}

// What begins each function that acts on the current device: where no context is current, that of
// the thread's device becomes so.
cudaError_t Context() {
  CUcontext context = nullptr;
  cudaError_t error = Begin();
  if (error == cudaSuccess) error = ASK(cuCtxGetCurrent, &context);
  return error == cudaSuccess && context == nullptr ? Use(chosen) : error;
}

// The most shared memory that each kernel has asked for.
class Asked {
 public:
  void Set(const void* kernel, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    most_[kernel] = bytes;
  }
  size_t Get(const void* kernel) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = most_.find(kernel);
    return found == most_.end() ? 0 : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, size_t> most_;
};
Asked asked;

void Fill(unsigned (&dims)[3], unsigned x, unsigned y, unsigned z) {
  dims[0] = x, dims[1] = y, dims[2] = z;
}

void Take(const cudaLaunchAttribute& a, EmulatedLaunch* launch) {
  switch (a.id) {
    case cudaLaunchAttributeCooperative:
      launch->cooperative = a.val.cooperative != 0;
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      launch->overlaps = a.val.programmaticStreamSerializationAllowed != 0;
      break;
    case cudaLaunchAttributeClusterDimension:
      Fill(launch->cluster, a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
      break;
  }
}

}  // namespace

cudaError_t Launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::vector<const void*>& pointers, std::function<void()> body) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  EmulatedLaunch launch = {};
  Fill(launch.grid, grid.x, grid.y, grid.z);
  Fill(launch.block, block.x, block.y, block.z);
  Fill(launch.cluster, 1, 1, 1);
  for (unsigned i = 0; i < config.numAttrs; ++i) Take(config.attrs[i], &launch);
  launch.shared = config.dynamicSmemBytes;
  launch.most_shared = asked.Get(kernel);
  launch.pointers = pointers.data();
  launch.pointer_count = static_cast<int>(pointers.size());
  const cudaError_t error = Context();
  if (error != cudaSuccess) return error;
  opcast::device::Bind(std::move(body), &launch);
  return ASK(cuEmulatorLaunch, &launch, config.stream);
}

}  // namespace emulator

using emulator::Context;

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t error = emulator::Begin();
  return error == cudaSuccess ? ASK(cuDeviceGetCount, count) : error;
}

cudaError_t cudaGetDevice(int* device) {
  CUcontext context = nullptr;
  cudaError_t error = emulator::Begin();
  if (error == cudaSuccess) error = ASK(cuCtxGetCurrent, &context);
  *device = emulator::chosen;
  return error == cudaSuccess && context != nullptr ? ASK(cuCtxGetDevice, device) : error;
}

cudaError_t cudaSetDevice(int device) {
  cudaError_t error = emulator::Begin();
  if (error == cudaSuccess) error = emulator::Use(device);
  if (error == cudaSuccess) emulator::chosen = device;
  return error;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const cudaError_t error = emulator::Begin();
  return error == cudaSuccess
             ? ASK(cuDeviceGetAttribute, value, static_cast<CUdevice_attribute>(attribute), device)
             : error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = emulator::last;
  emulator::last = cudaSuccess;
  return error;
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver)
    return "CUDA driver version is insufficient for CUDA runtime version";
  const char* text = "unrecognized error code";
  const cudaError_t before = emulator::last;
  ASK(cuGetErrorString, static_cast<CUresult>(static_cast<int>(error)), &text);
  emulator::last = before;
  return text;
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  const cudaError_t error = Context();
  return error == cudaSuccess ? ASK(cuMemsetD8Async, reinterpret_cast<CUdeviceptr>(memory),
                                    static_cast<unsigned char>(value), bytes, stream)
                              : error;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  const cudaError_t error = Context();
  return error == cudaSuccess
             ? ASK(cuMemcpyDtoHAsync_v2, to, reinterpret_cast<CUdeviceptr>(from), bytes, stream)
             : error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t error = Context();
  return error == cudaSuccess ? ASK(cuStreamSynchronize, stream) : error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const cudaError_t error = Context();
  return error == cudaSuccess
             ? ASK(cuStreamIsCapturing, stream, reinterpret_cast<CUstreamCaptureStatus*>(status))
             : error;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const cudaError_t error = emulator::Begin();
  return error == cudaSuccess
             ? ASK(cuThreadExchangeStreamCaptureMode, reinterpret_cast<CUstreamCaptureMode*>(mode))
             : error;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  const cudaError_t error = Context();
  if (error != cudaSuccess) return error;
  CUdevice device = 0;
  int most = 0;
  cudaError_t asked = ASK(cuCtxGetDevice, &device);
  if (asked == cudaSuccess)
    asked = ASK(cuDeviceGetAttribute, &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                device);
  if (asked != cudaSuccess) return asked;
  if (value < 0 || value > most) return emulator::Keep(cudaErrorInvalidValue);
  emulator::asked.Set(kernel, static_cast<size_t>(value));
  return cudaSuccess;
}
