// Where the arrays of a call lie. Tools such as valgrind and compute-sanitizer get one allocation
// per array and not a byte more, so that they see every access outside; without a tool, guards.h
// watches arrays of the host, and memory around arrays of a GPU is compared after the call.
#pragma once

#include <dlfcn.h>
#include <tvm/ffi/c_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "case.h"

namespace runner {

// What the case needs and this machine lacks.
struct Lacks : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* Allocate(const Array& array) = 0;
  virtual void Free(void* memory) = 0;
  virtual void Write(void* to, const void* from, size_t bytes) = 0;  // from the host
  virtual void Read(void* to, const void* from, size_t bytes) = 0;   // to the host
  virtual void* stream() { return nullptr; }
  virtual void Wait() {}
  // Watch is called when all arrays have their contents. Check prints what was written outside of
  // arrays since then: "outside NAME OFFSET", with the offset of the byte in the array.
  virtual void Watch() {}
  virtual void Check() {}
};

// What fills memory around arrays that a call may write. It is no NaN, so that a kernel which
// copies too much of an input, whose surroundings are NaN, does not write the same again.
constexpr char kCanary = '\xfe';

// Every allocation begins at a multiple of this, as those of frameworks do.
constexpr size_t kAlignment = 64;

class HostMemory : public Memory {
 public:
  void* Allocate(const Array& array) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, array.bytes()) != 0) throw std::bad_alloc();
    return memory;
  }
  void Free(void* memory) override { std::free(memory); }
  void Write(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Read(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
};

// A GPU through the library of its vendor, which is opened only for a case on a GPU: CUDA's driver,
// or HIP, which has the same functions under other names.
class GpuMemory : public Memory {
 public:
  GpuMemory(DLDevice device, bool guards) try
      : hip_(device.device_type == kDLROCM), margin_(guards ? kMargin : 0) {
    Open();
    Do<int(unsigned)>("cuInit", "hipInit", 0);
    if (hip_) {
      Do<int(int)>("", "hipSetDevice", device.device_id);
    } else {
      int handle = 0;
      Do<int(int*, int)>("cuDeviceGet", "", &handle, device.device_id);
      Do<int(void**, int)>("cuDevicePrimaryCtxRetain", "", &context_, handle);
      Do<int(void*)>("cuCtxSetCurrent", "", context_);
    }
    Do<int(void**, unsigned)>("cuStreamCreate", "hipStreamCreateWithFlags", &stream_, 0);
  } catch (const std::runtime_error& e) {
    throw Lacks(e.what());
  }
  void* Allocate(const Array& array) override {
    const size_t bytes = array.bytes(), all = bytes + 2 * margin_;
    uintptr_t memory = 0;
    Do<int(uintptr_t*, size_t)>("cuMemAlloc_v2", "hipMalloc", &memory, all == 0 ? size_t{1} : all);
    memory += margin_;
    arrays_.push_back({array.name, memory, bytes});
    return reinterpret_cast<void*>(memory);
  }
  void Free(void* memory) override {
    Do<int(uintptr_t)>("cuMemFree_v2", "hipFree", reinterpret_cast<uintptr_t>(memory) - margin_);
  }
  void Watch() override {
    const std::string canary(margin_, kCanary);
    for (const Place& a : arrays_) {
      Write(reinterpret_cast<void*>(a.begin - margin_), canary.data(), margin_);
      Write(reinterpret_cast<void*>(a.begin + a.bytes), canary.data(), margin_);
    }
  }
  void Check() override {
    for (const Place& a : arrays_) {
      CheckMargin(a, -static_cast<int64_t>(margin_));
      CheckMargin(a, static_cast<int64_t>(a.bytes));
    }
  }
  void Write(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    Do<int(uintptr_t, const void*, size_t)>("cuMemcpyHtoD_v2", "hipMemcpyHtoD",
                                            reinterpret_cast<uintptr_t>(to), from, bytes);
  }
  void Read(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    Do<int(void*, uintptr_t, size_t)>("cuMemcpyDtoH_v2", "hipMemcpyDtoH", to,
                                      reinterpret_cast<uintptr_t>(from), bytes);
  }
  void* stream() override { return stream_; }
  void Wait() override { Do<int(void*)>("cuStreamSynchronize", "hipStreamSynchronize", stream_); }

 private:
  struct Place {
    std::string name;
    uintptr_t begin;
    size_t bytes;
  };

  // Tells of the first byte that changed in the margin which begins at an offset of an array.
  void CheckMargin(const Place& a, int64_t offset) {
    std::string now(margin_, '\0');
    Read(now.data(), reinterpret_cast<void*>(a.begin + static_cast<uintptr_t>(offset)), margin_);
    const size_t at = now.find_first_not_of(kCanary);
    if (at != std::string::npos) {
      std::printf("outside %s %lld\n", a.name.c_str(),
                  static_cast<long long>(offset + static_cast<int64_t>(at)));
    }
  }

  void Open() {
    const std::vector<const char*> hip = {"libamdhip64.so.7", "libamdhip64.so.6",
                                          "libamdhip64.so.5", "libamdhip64.so"};
    for (const char* const name : hip_ ? hip : std::vector<const char*>{"libcuda.so.1"}) {
      driver_ = dlopen(name, RTLD_NOW);
      if (driver_ != nullptr) return;
    }
    throw Lacks(hip_ ? "no HIP runtime on this machine" : "no CUDA driver on this machine");
  }

  // Calls a function by the name that it has in CUDA or in HIP.
  template <class Signature, class... Args>
  void Do(const char* cuda, const char* hip, Args... args) {
    const char* const name = hip_ ? hip : cuda;
    auto* function = reinterpret_cast<Signature*>(dlsym(driver_, name));
    const int code = function == nullptr ? -1 : function(args...);
    if (code != 0) {
      throw std::runtime_error(std::string(name) + " failed with error " + std::to_string(code));
    }
  }

  // What a kernel that runs over by some rows still hits; allocations stay aligned.
  static constexpr size_t kMargin = 1 << 20;
  const bool hip_;
  const size_t margin_;
  std::vector<Place> arrays_;
  void* driver_ = nullptr;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace runner
