// gpu.h for CUDA, with the runtime API and, for contexts, the driver's. The runtime is linked
// statically and finds the driver when it is first called, and so does this file: the library loads
// on machines without one.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "opcast/gpu.h"

namespace opcast::gpu {
namespace {

constexpr int kDevices = 64;  // of which something is remembered

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

// The functions of the driver that say and choose which context a thread uses. With those of the
// runtime this cannot be done without a trace: since CUDA 12, cudaSetDevice creates a context on
// the device to which it returns, and it replaces a caller's own context by that of the runtime.
class Contexts {
 public:
  Contexts() : driver_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (driver_ == nullptr || !Find("cuInit", &init_) || !Find("cuDeviceGet", &device_) ||
        !Find("cuDevicePrimaryCtxRetain", &retain_) || !Find("cuCtxGetCurrent", &current_) ||
        !Find("cuCtxSetCurrent", &set_) || !Find("cuCtxGetDevice", &device_of_current_) ||
        !Find("cuGetErrorString", &text_))
      driver_ = nullptr;
  }

  // Makes a context of the device current where none is, and tells which one was.
  Status Enter(int device, CUcontext* before, bool* changed) {
    *changed = false;
    if (driver_ == nullptr) return Checked(cudaErrorInsufficientDriver);
    CUdevice wanted = 0, now = 0;
    CUresult error = Device(device, &wanted);
    if (error == CUDA_SUCCESS) error = current_(before);
    if (error == CUDA_SUCCESS && *before != nullptr) {
      error = device_of_current_(&now);
      if (error == CUDA_SUCCESS && now == wanted) return Status::Ok();
    }
    CUcontext context = nullptr;
    if (error == CUDA_SUCCESS) error = Primary(device, wanted, &context);
    if (error == CUDA_SUCCESS) error = set_(context);
    *changed = error == CUDA_SUCCESS;
    if (*changed) return Status::Ok();
    const char* text = nullptr;
    text_(error, &text);
    return Status::Error(text == nullptr ? "unknown error" : text);
  }

  void Leave(CUcontext before) { set_(before); }

 private:
  template <class Function>
  bool Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(driver_, name));
    return *function != nullptr;
  }

  // The driver is initialised, and asked, once for each of the first devices.
  CUresult Device(int number, CUdevice* device) {
    static std::atomic<int64_t> known[kDevices];  // the device and 1; 0 is none
    const bool cached = number >= 0 && number < kDevices;
    const int64_t before = cached ? known[number].load(std::memory_order_relaxed) : 0;
    *device = static_cast<CUdevice>(before - 1);
    if (before != 0) return CUDA_SUCCESS;
    CUresult error = init_(0);
    if (error == CUDA_SUCCESS) error = device_(device, number);
    if (error == CUDA_SUCCESS && cached)
      known[number].store(int64_t{*device} + 1, std::memory_order_relaxed);
    return error;
  }

  // The context that the runtime and all frameworks share. It is kept for the life of the process,
  // as the runtime does: to retain and release it in each call would take longer than some kernels,
  // and might destroy it.
  CUresult Primary(int number, CUdevice device, CUcontext* context) {
    static std::atomic<CUcontext> known[kDevices];
    if (number < kDevices) *context = known[number].load(std::memory_order_acquire);
    if (*context != nullptr) return CUDA_SUCCESS;
    const CUresult error = retain_(context, device);
    if (error == CUDA_SUCCESS && number < kDevices)
      known[number].store(*context, std::memory_order_release);
    return error;
  }

  void* driver_;
  CUresult (*init_)(unsigned) = nullptr;
  CUresult (*device_)(CUdevice*, int) = nullptr;
  CUresult (*retain_)(CUcontext*, CUdevice) = nullptr;
  CUresult (*current_)(CUcontext*) = nullptr;
  CUresult (*set_)(CUcontext) = nullptr;
  CUresult (*device_of_current_)(CUdevice*) = nullptr;
  CUresult (*text_)(CUresult, const char**) = nullptr;
};

Contexts& TheContexts() {
  static Contexts contexts;
  return contexts;
}

}  // namespace

Properties PropertiesOf(int device) {
  constexpr int kShift = 1 << 16;
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
  CUcontext before = nullptr;
  status_ = TheContexts().Enter(device, &before, &changed_);
  before_ = before;
}

DeviceGuard::~DeviceGuard() {
  if (changed_) TheContexts().Leave(static_cast<CUcontext>(before_));
}

Status Captures(void* stream, bool* yes) {
  cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &state);
  *yes = state != cudaStreamCaptureStatusNone;
  if (error != cudaErrorStreamCaptureImplicit) return Checked(error);
  cudaGetLastError();
  *yes = true;  // by a stream for which the default stream, which this is, would wait
  return Status::Ok();
}

Status Zero(void* data, size_t bytes, void* stream) {
  return Checked(cudaMemsetAsync(data, 0, bytes, static_cast<cudaStream_t>(stream)));
}

Status Read(void* host, const void* device, size_t bytes, void* stream) {
  bool captures = false;
  const Status asked = Captures(stream, &captures);
  if (!asked.ok()) return asked;
  if (captures)  // to wait now would break the capture
    return Status::Error("what an array holds cannot be read while a graph is captured");
  const auto on = static_cast<cudaStream_t>(stream);
  const cudaError_t error = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, on);
  return Checked(error == cudaSuccess ? cudaStreamSynchronize(on) : error);
}

}  // namespace opcast::gpu
