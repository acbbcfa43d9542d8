// Where the arrays of a call lie: one allocation per array and not a byte more, so that valgrind,
// compute-sanitizer and address sanitizers see every access outside.
#pragma once

#include <dlfcn.h>
#include <tvm/ffi/c_api.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace runner {

// What the case needs and this machine lacks.
struct Lacks : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  virtual void Write(void* to, const void* from, size_t bytes) = 0;  // from the host
  virtual void Read(void* to, const void* from, size_t bytes) = 0;   // to the host
  virtual void* stream() { return nullptr; }
  virtual void Wait() {}
};

class HostMemory : public Memory {
 public:
  void* Allocate(size_t bytes) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, bytes) != 0) throw std::bad_alloc();
    return memory;
  }
  void Free(void* memory) override { std::free(memory); }
  void Write(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Read(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
};

// CUDA through its driver library, which is opened only for a case on a GPU.
class CudaMemory : public Memory {
 public:
  explicit CudaMemory(int device) try {
    driver_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver_ == nullptr) throw Lacks("no CUDA driver on this machine");
    int handle = 0;
    Do<int(unsigned)>("cuInit", 0);
    Do<int(int*, int)>("cuDeviceGet", &handle, device);
    Do<int(void**, int)>("cuDevicePrimaryCtxRetain", &context_, handle);
    Do<int(void*)>("cuCtxSetCurrent", context_);
    Do<int(void**, unsigned)>("cuStreamCreate", &stream_, 0);
  } catch (const std::runtime_error& e) {
    throw Lacks(e.what());
  }
  void* Allocate(size_t bytes) override {
    uintptr_t memory = 0;
    Do<int(uintptr_t*, size_t)>("cuMemAlloc_v2", &memory, bytes == 0 ? size_t{1} : bytes);
    return reinterpret_cast<void*>(memory);
  }
  void Free(void* memory) override {
    Do<int(uintptr_t)>("cuMemFree_v2", reinterpret_cast<uintptr_t>(memory));
  }
  void Write(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    Do<int(uintptr_t, const void*, size_t)>("cuMemcpyHtoD_v2", reinterpret_cast<uintptr_t>(to),
                                            from, bytes);
  }
  void Read(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    Do<int(void*, uintptr_t, size_t)>("cuMemcpyDtoH_v2", to, reinterpret_cast<uintptr_t>(from),
                                      bytes);
  }
  void* stream() override { return stream_; }
  void Wait() override { Do<int(void*)>("cuStreamSynchronize", stream_); }

 private:
  template <class Signature, class... Args>
  void Do(const char* name, Args... args) {
    auto* function = reinterpret_cast<Signature*>(dlsym(driver_, name));
    const int code = function == nullptr ? -1 : function(args...);
    if (code != 0) {
      throw std::runtime_error(std::string(name) + " failed with CUDA error " +
                               std::to_string(code));
    }
  }

  void* driver_ = nullptr;
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

inline std::unique_ptr<Memory> MemoryOf(DLDevice device) {
  if (device.device_type == kDLCPU) return std::make_unique<HostMemory>();
  return std::make_unique<CudaMemory>(device.device_id);
}

}  // namespace runner
