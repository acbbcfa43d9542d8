// What every kernel gets and gives back besides its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace opcast {

// Where a kernel runs: a DLPack device and, on a GPU, the caller's stream and what the device is.
struct Launch {
  int device_type;
  int device_id;
  void* stream;
  int arch = 0;      // 90 for sm_90, 0x90a for gfx90a, 0 on the CPU
  int choice = 0;    // number of the parameters that dispatch gives to a kernel with some
  int sm_count = 0;  // streaming multiprocessors of a GPU, or its compute units; 0 on the CPU

  // How many threads ParallelFor may use on the CPU, the caller included; 0 on a GPU. Frameworks
  // may be asked for it. Results must not depend on it.
  int Threads() const;

  // The size of the CPU's last cache; 0 on a GPU and where the system does not tell. For choosing
  // how to load and store, as for Threads.
  int64_t CacheBytes() const;
};

// Success, or an error text that reaches the caller as a RuntimeError.
class Status {
 public:
  static Status Ok() { return Status(); }
  static Status Error(std::string text) { return Status(std::move(text)); }

  bool ok() const { return ok_; }
  const std::string& text() const { return text_; }

 private:
  Status() = default;
  explicit Status(std::string text) : ok_(false), text_(std::move(text)) {}

  bool ok_ = true;
  std::string text_;
};

}  // namespace opcast
