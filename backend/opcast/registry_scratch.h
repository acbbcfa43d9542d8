// The work space that an op declares, on its way from the caller to the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "opcast/op.h"

namespace opcast {

// A pointer of any type, for who does not know the type.
class PointerSlot {
 public:
  template <class T>
  PointerSlot(T** slot) : slot_(slot), get_(&Get<T>), set_(&Set<T>) {}

  void* get() const { return get_(slot_); }
  void set(void* value) const { set_(slot_, value); }

 private:
  template <class T>
  static void* Get(void* slot) {
    return *static_cast<T**>(slot);
  }
  template <class T>
  static void Set(void* slot, void* value) {
    *static_cast<T**>(slot) = static_cast<T*>(value);
  }

  void* slot_;
  void* (*get_)(void* slot);
  void (*set_)(void* slot, void* value);
};

// One scratch tensor of a call, whose shape follows from the sizes of the inputs. Generated code
// writes Scratch{"part", dtype, &part, &args.part}.Sizes(sizes).
struct Scratch {
  const char* name;
  DType dtype;
  const Tensor* given;               // checked already, perhaps absent
  PointerSlot pointer;               // where the kernel's arguments have it
  const int64_t* leading = nullptr;  // the leading dims, which come first
  int leading_rank = 0;              // number of those
  const int64_t* sizes = nullptr;    // the dims after those
  int rank = 0;                      // number of sizes
  bool zeroed = false;               // has to be zeros before the kernel begins

  // Keeps the address of the sizes.
  template <size_t N>
  Scratch Sizes(const std::array<int64_t, N>& all) const {
    Scratch s = *this;
    s.sizes = all.data();
    s.rank = static_cast<int>(N);
    return s;
  }
  // The leading dims are those of `of`, all but its `trailing` last ones.
  Scratch LeadingDims(const Tensor* of, int trailing) const {
    return LeadingDims(of->shape(), of->rank() - trailing);
  }
  // Keeps the address of the leading dims.
  Scratch LeadingDims(const int64_t* dims, int count) const {
    Scratch s = *this;
    s.leading = dims;
    s.leading_rank = count;
    return s;
  }
  Scratch Zeroed() const {
    Scratch s = *this;
    s.zeroed = true;
    return s;
  }
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

// The scratch that a call needs.
std::vector<ScratchNeed> NeedsOf(const Work& work);

}  // namespace opcast
