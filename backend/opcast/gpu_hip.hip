// gpu.h for HIP, and the launch of kernels.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "opcast/gpu.h"
#include "opcast/gpu_hip.h"
#include "opcast/start_hip.h"

namespace opcast::gpu {
namespace {

// An error of the runtime stays for the next caller of hipGetLastError, who may be the framework:
// it is taken away.
std::string Text(const Runtime& runtime, hipError_t error) {
  (void)runtime.get_last_error();
  return runtime.get_error_string(error);
}

// Calls f with the runtime. Its error, or the lack of a runtime, becomes that of the status.
template <class F>
Status With(F f) {
  std::string why;
  const Runtime* const runtime = UseRuntime(&why);
  if (runtime == nullptr) return Status::Error("no HIP runtime for AMD's devices: " + why);
  const hipError_t error = f(*runtime);
  return error == hipSuccess ? Status::Ok() : Status::Error(Text(*runtime, error));
}

// 0x90a for "gfx90a:sramecc+:xnack-": the digits are hexadecimal.
int ArchOf(const char* name) {
  return std::strncmp(name, "gfx", 3) == 0 ? static_cast<int>(std::strtol(name + 3, nullptr, 16))
                                           : 0;
}

hipError_t Ask(const Runtime& runtime, int device, Properties* found) {
  int count = 0;
  hipError_t error = runtime.get_device_count(&count);
  if (error == hipSuccess && (device < 0 || device >= count)) error = hipErrorInvalidDevice;
  hipDeviceProp_t properties = {};
  if (error == hipSuccess) error = runtime.get_device_properties(&properties, device);
  if (error != hipSuccess) return error;
  found->arch = ArchOf(properties.gcnArchName);
  found->sm_count = properties.multiProcessorCount;
  return error;
}

}  // namespace

Properties PropertiesOf(int device) {
  constexpr int kDevices = 64, kShift = 1 << 16;
  static std::atomic<int64_t> known[kDevices];  // both numbers in one
  const bool cached = device >= 0 && device < kDevices;
  const int64_t both = cached ? known[device].load(std::memory_order_relaxed) : 0;
  if (both != 0) return {static_cast<int>(both / kShift), static_cast<int>(both % kShift), ""};
  Properties found;
  const Status status = With([&](const Runtime& r) { return Ask(r, device, &found); });
  if (!status.ok()) return {0, 0, status.text()};
  if (cached)
    known[device].store(int64_t{found.arch} * kShift + found.sm_count, std::memory_order_relaxed);
  return found;
}

// A thread's device is a number, so what was current is restored without a trace.
DeviceGuard::DeviceGuard(int device) {
  int current = device;
  status_ = With([&](const Runtime& r) { return r.get_device(&current); });
  if (!status_.ok() || current == device) return;
  status_ = With([&](const Runtime& r) { return r.set_device(device); });
  changed_ = status_.ok();
  before_ = reinterpret_cast<void*>(static_cast<intptr_t>(current));
}

DeviceGuard::~DeviceGuard() {
  const int before = static_cast<int>(reinterpret_cast<intptr_t>(before_));
  if (changed_) With([&](const Runtime& r) { return r.set_device(before); });
}

Status Captures(void* stream, bool* yes) {
  hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
  const auto on = static_cast<hipStream_t>(stream);
  bool others = false;  // a stream captures for which the default stream, which this is, would wait
  const Status status = With([&](const Runtime& r) {
    const hipError_t error = r.stream_is_capturing(on, &state);
    others = error == hipErrorStreamCaptureImplicit;
    if (others) (void)r.get_last_error();
    return others ? hipSuccess : error;
  });
  *yes = others || state != hipStreamCaptureStatusNone;
  return status;
}

Status Zero(void* data, size_t bytes, void* stream) {
  const auto on = static_cast<hipStream_t>(stream);
  return With([&](const Runtime& r) { return r.memset_async(data, 0, bytes, on); });
}

Status Read(void* host, const void* device, size_t bytes, void* stream) {
  bool captures = false;
  const Status asked = Captures(stream, &captures);
  if (!asked.ok()) return asked;
  if (captures)  // to wait now would break the capture
    return Status::Error("what an array holds cannot be read while a graph is captured");
  const auto on = static_cast<hipStream_t>(stream);
  return With([&](const Runtime& r) {
    const hipError_t error = r.memcpy_async(host, device, bytes, hipMemcpyDeviceToHost, on);
    return error == hipSuccess ? r.stream_synchronize(on) : error;
  });
}

}  // namespace opcast::gpu

namespace opcast::device {

Status StartKernel(const StartOptions& options, const void* kernel, dim3 grid, dim3 block,
                   void** arguments, size_t shared, void* stream) {
  if (options.cluster > 1) return Status::Error("kernel launch: AMD's GPUs have no clusters");
  const auto on = static_cast<hipStream_t>(stream);
  const Status status = gpu::With([&](const gpu::Runtime& r) {
    return options.cooperative ? r.launch_cooperative(kernel, grid, block, arguments,
                                                      static_cast<unsigned>(shared), on)
                               : r.launch_kernel(kernel, grid, block, arguments, shared, on);
  });
  return status.ok() ? status : Status::Error("kernel launch: " + status.text());
}

}  // namespace opcast::device
