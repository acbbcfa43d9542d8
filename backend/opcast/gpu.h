// What the FFI side asks of a GPU. It needs no header of the vendor; gpu_<vendor>.cu implements it
// in libraries that are built for one.
#pragma once

#include <cstddef>
#include <string>

#include "opcast/launch.h"

namespace opcast::gpu {

// What a device is: its architecture, 90 for sm_90, and its number of multiprocessors. Or why there
// is no such device, in the driver's words; then both are 0.
struct Properties {
  int arch = 0;
  int sm_count = 0;
  std::string error;
};

// Asks the driver once per device; a failure is asked for again, since a driver may come up later.
Properties PropertiesOf(int device);

// Makes a device the current one of this thread, if status() is ok, and restores the caller's when
// it goes.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  const Status& status() const { return status_; }

 private:
  Status status_ = Status::Ok();
  int saved_ = -1;  // negative: nothing to restore
};

// Zeroes memory in the order of the stream; a graph that is being captured learns of it.
Status Zero(void* data, size_t bytes, void* stream);

// Copies from the device and waits for it: for debugging only.
Status Read(void* host, const void* device, size_t bytes, void* stream);

}  // namespace opcast::gpu
