// The work space that an op declares, on its way from the caller to the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "opcast/op.h"

namespace opcast {

// One scratch tensor of a call, whose shape follows from the sizes of the inputs.
struct Scratch {
  const char* name;
  DType dtype;
  bool zeroed;             // has to be zeros before the kernel begins
  const Tensor* given;     // checked already, perhaps absent
  void** pointer;          // where the kernel's arguments have it
  const Tensor* batch_of;  // the input whose leading dims come first, or null
  int batch_trailing;      // dims of batch_of that are not leading
  const int64_t* sizes;    // the dims after those
  int rank;                // number of sizes
};

// What a call brings besides arguments: a request, or null, and scratch tensors.
struct Work {
  Request* request = nullptr;
  const Scratch* scratch = nullptr;
  int count = 0;
};

// Hands the scratch of a call to its kernel, and zeroes what has to be zeros. What is missing is
// allocated until the object goes if the request is to launch, else it is an error.
class ScratchMemory {
 public:
  ScratchMemory(const Call& call, const Work& work, const Launch& launch)
      : allocates_(work.request != nullptr && work.request->task == Request::Task::kLaunch) {
    try {
      for (int i = 0; i < work.count; ++i) Take(call, work.scratch[i], launch);
      // Only now: a call that is refused changes nothing.
      for (int i = 0; i < work.count; ++i) Clear(call, work.scratch[i], launch);
    } catch (...) {
      Free();
      throw;
    }
  }
  ~ScratchMemory() {
    if (!owned_.empty()) Free();
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

 private:
  struct Block {
    void* host;                 // from the C++ allocator, or null
    TVMFFIObjectHandle tensor;  // from the caller's allocator, or null
  };

  void Take(const Call& call, const Scratch& s, const Launch& launch);
  void Clear(const Call& call, const Scratch& s, const Launch& launch);
  void* Allocate(const Call& call, const Scratch& s, const Launch& launch);
  void Free();

  const bool allocates_;
  std::vector<Block> owned_;
};

// Throws if a kernel wants more scratch than the definition declares.
void CheckWorkspace(const Call& call, const char* kernel, int64_t wanted, const Work& work);

// Writes what scratch a call needs to the request's text, one line per tensor: name, dtype, DLPack
// code and bits, sizes, with tabs between, and commas between numbers.
void Describe(const Work& work);

}  // namespace opcast
