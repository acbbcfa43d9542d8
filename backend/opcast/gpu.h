// What the FFI side asks of a GPU. It needs no header of the vendor; gpu_cuda.cu and gpu_hip.hip
// implement it in libraries that are built for one.
#pragma once

#include <cstddef>
#include <string>

#include "opcast/launch.h"

namespace opcast::gpu {

// What a device is: its architecture, 90 for sm_90 and 0x90a for gfx90a, and its number of
// multiprocessors. Or why there is no such device, in the driver's words; then both are 0.
struct Properties {
  int arch = 0;
  int sm_count = 0;
  std::string error;
};

// Asks the driver once per device; a failure is asked for again, since a driver may come up later.
Properties PropertiesOf(int device);

// Makes a device the current one of this thread, if status() is ok, and exactly what was current
// before, be it nothing, when it goes. A context of the caller's on that device stays current.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  const Status& status() const { return status_; }

 private:
  Status status_ = Status::Ok();
  bool changed_ = false;
  void* before_ = nullptr;  // what to restore then: of CUDA the context, which may be null
};

// Whether work on the stream becomes part of a graph instead of being done. The device is current.
Status Captures(void* stream, bool* yes);

// Zeroes memory in the order of the stream; a graph that is being captured learns of it.
Status Zero(void* data, size_t bytes, void* stream);

// Copies from the device and waits for it: for debugging only. Refuses while a graph is captured.
Status Read(void* host, const void* device, size_t bytes, void* stream);

}  // namespace opcast::gpu
