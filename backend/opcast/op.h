// What the library knows about its ops at run time: one entry per op, generated from its
// definition.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "opcast/ffi.h"

// The devices for which kernels are compiled into this library; the CPU always is one.
#ifndef OPCAST_CUDA
#define OPCAST_CUDA 0
#endif
#if OPCAST_CUDA
#define OPCAST_ON_CUDA(function) function
#else
#define OPCAST_ON_CUDA(function) nullptr
#endif
#define OPCAST_ON_CPU(function) function
#define OPCAST_ROCM 0  // definitions know it, the build does not yet
#define OPCAST_ON_ROCM(function) nullptr

namespace opcast {

// An array in static memory.
template <class T>
class Table {
 public:
  constexpr Table() = default;
  template <size_t N>
  constexpr Table(const T (&items)[N]) : items_(items), size_(N) {}

  constexpr int size() const { return static_cast<int>(size_); }
  constexpr const T& operator[](int i) const { return items_[i]; }
  constexpr const T* begin() const { return items_; }
  constexpr const T* end() const { return items_ + size_; }

 private:
  const T* items_ = nullptr;
  size_t size_ = 0;
};

enum class Role { kOutput, kSaved, kInput, kMutated, kScratch };

// An array argument of an export.
struct ArrayInfo {
  const char* name;
  Role role;
  bool optional;  // may be None, though not always: see the rules of the op
};

enum class AttrType { kInt, kFloat, kBool, kStr, kInts, kDType };

// An attribute. What stands for one that a caller leaves out is `integer` for int and bool (and for
// every element of kInts, unless `list` differs), `number` for float, `text` for str. The text of
// kDType lists what it may be: long names separated by commas.
struct AttrInfo {
  enum class Default {
    kNone,   // the caller has to give it
    kValue,  // one of the members below
    kLate,   // None: the export computes it from sizes
  };

  const char* name;
  AttrType type;
  int length;           // of kInts
  const char* carrier;  // of kDType, which the export does not take: the output that has it
  Default otherwise;
  int64_t integer;
  double number;
  const char* text;
  const int64_t* list;  // `length` elements, or null
};

// A kernel of an op, without its types.
struct KernelInfo {
  const char* name;
  int device;    // DLDeviceType
  bool scratch;  // takes the op's scratch
  bool built;    // is in this library
};

// What a caller wants of an op's body besides a launch, and the answer.
struct Request {
  enum class Task {
    kLaunch,   // launch, and allocate the scratch that is not given
    kExplain,  // say of every kernel whether it takes the call
    kScratch,  // say what scratch the call needs
  };

  Task task;
  std::string text{};
};

// Whether an op's body ends with a launch.
inline bool Launches(const Request* request) {
  return request == nullptr || request->task == Request::Task::kLaunch;
}

// An op of the library.
class Op {
 public:
  // Checks the arguments of the export and launches a kernel, or answers the request if there is
  // one. Throws what Export catches.
  using Body = void (*)(const TVMFFIAny* args, int32_t count, Request* request);

  constexpr Op(const char* name, int64_t kind, int64_t schema, Body body, Table<KernelInfo> kernels,
               Table<ArrayInfo> arrays, Table<AttrInfo> attrs, Table<ArrayInfo> scratch)
      : name(name),
        kind(kind),
        schema(schema),
        body(body),
        kernels(kernels),
        arrays(arrays),
        attrs(attrs),
        scratch(scratch) {}

  const char* const name;
  const int64_t kind;
  const int64_t schema;  // hash of the definition
  const Body body;
  const Table<KernelInfo> kernels;  // in dispatch order
  const Table<ArrayInfo> arrays;    // arguments of the export: first these, outputs before inputs,
  const Table<AttrInfo> attrs;      // then these without those of kDType,
  const Table<ArrayInfo> scratch;   // then these
  std::atomic<int64_t> calls{0};
  // Kernels of this op that were registered while the process runs; see registered.h.
  std::atomic<int> registered{0};

  int ArrayCount() const { return arrays.size(); }
  // Attributes that the export takes.
  int AttrCount() const;
  // The index of a kernel that is built in, or -1.
  int BuiltIn(std::string_view kernel) const;

  // The only kernel that may run: an index in kernels, the id of a registered one, or negative. It
  // is forced by Force, or by the environment variable <NAME>_KERNEL_<OP>.
  int Forced() {
    const int kernel = forced_.load(std::memory_order_acquire);
    return kernel == kUnread ? ReadForced() : kernel;
  }
  // Forces a kernel by its name; "" leaves it to the environment and dispatch again. Throws
  // ValueError for an unknown name.
  void Force(const std::string& kernel);
  // Ends the forcing of a registered kernel that is removed.
  void Unforce(int id);

 private:
  static constexpr int kUnread = -2, kFree = -1;
  std::atomic<int> forced_{kUnread};

  int ReadForced();
  // Calls use(number) with the number by which a kernel is forced, while it stays right.
  void UseNumber(const std::string& kernel, const std::function<void(int)>& use) const;
};

// Every op of the library; generated.
extern Op* const kOps[];
extern const int kOpCount;

// Runs an op's export: what its body throws becomes a raised tvm-ffi error.
int Export(const Op& op, const TVMFFIAny* args, int32_t count, Request* request = nullptr) noexcept;

// The op of that name or kind; null if there is none, or a KeyError of a call.
Op* FindOp(std::string_view name);
Op* FindOp(int64_t kind);
Op& FindOp(const Call& call, std::string_view name);

}  // namespace opcast
