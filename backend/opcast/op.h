// What the library knows about its ops at run time: one entry per op, generated from its
// definition.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "opcast/ffi.h"
#include "opcast/op_table.h"

// The devices for which kernels are compiled into this library.
#ifndef OPCAST_CPU
#define OPCAST_CPU 1
#endif
#ifndef OPCAST_CUDA
#define OPCAST_CUDA 0
#endif
#if OPCAST_CPU
#define OPCAST_ON_CPU(function) function
#else
#define OPCAST_ON_CPU(function) nullptr
#endif
#if OPCAST_CUDA
#define OPCAST_ON_CUDA(function) function
#else
#define OPCAST_ON_CUDA(function) nullptr
#endif
#ifndef OPCAST_ROCM
#define OPCAST_ROCM 0
#endif
#if OPCAST_ROCM
#define OPCAST_ON_ROCM(function) function
#else
#define OPCAST_ON_ROCM(function) nullptr
#endif

// A source that compiles for both has the same functions for each, so a library has only one.
#if OPCAST_CUDA && OPCAST_ROCM
#error "a library has kernels for CUDA or for ROCm"
#endif
#define OPCAST_GPU (OPCAST_CUDA || OPCAST_ROCM)
#if OPCAST_GPU
#define OPCAST_ON_GPU(function) function
#else
#define OPCAST_ON_GPU(function) nullptr
#endif

// Kernels whose files the C++ compiler does not take are in no library for an emulated device.
#ifndef OPCAST_EMULATED
#define OPCAST_EMULATED 0
#endif
#define OPCAST_COMPILED_CUDA (OPCAST_CUDA && !OPCAST_EMULATED)
#define OPCAST_COMPILED_ROCM (OPCAST_ROCM && !OPCAST_EMULATED)
#define OPCAST_COMPILED_GPU (OPCAST_GPU && !OPCAST_EMULATED)
#if OPCAST_EMULATED
#define OPCAST_ON_COMPILED_CUDA(function) nullptr
#define OPCAST_ON_COMPILED_ROCM(function) nullptr
#define OPCAST_ON_COMPILED_GPU(function) nullptr
#else
#define OPCAST_ON_COMPILED_CUDA(function) OPCAST_ON_CUDA(function)
#define OPCAST_ON_COMPILED_ROCM(function) OPCAST_ON_ROCM(function)
#define OPCAST_ON_COMPILED_GPU(function) OPCAST_ON_GPU(function)
#endif

namespace opcast {

// The GPUs of this library; CUDA's in one without any, which can be built with those, too.
constexpr DLDeviceType kGpu = OPCAST_ROCM ? kDLROCM : kDLCUDA;

// What a kernel says about a call.
struct KernelAnswer {
  std::string name;
  int device;            // DLDeviceType
  std::string reason;    // why it does not take the call; empty if it does
  std::string params{};  // those that the call would give it: "[rows=64]"; empty without any
};

// A scratch array that a call needs.
struct ScratchNeed {
  const char* name;
  DType dtype;
  std::vector<int64_t> shape;
};

// What a caller wants of an op's body besides a launch, and the answer.
struct Request {
  enum class Task {
    kLaunch,   // launch, and allocate the scratch that is not given
    kExplain,  // say of every kernel whether it takes the call
    kScratch,  // say what scratch the call needs
  };

  Task task;
  const Allocator* allocator = nullptr;  // of kLaunch: makes what the caller did not
  std::vector<KernelAnswer> kernels{};   // of kExplain, in the order of dispatch
  std::vector<ScratchNeed> scratch{};    // of kScratch
};

// Whether an op's body ends with a launch.
inline bool Launches(const Request* request) {
  return request == nullptr || request->task == Request::Task::kLaunch;
}

// What makes the outputs that the caller of an op's body did not; null if it brought all.
inline const Allocator* AllocatorOf(const Request* request) {
  return request == nullptr ? nullptr : request->allocator;
}

// The number by which a kernel that is built in is forced: its index, and if certain parameters are
// asked for, so many times kMostKernels as their number, counted from 1.
constexpr int kMostKernels = 256;
constexpr int KernelOf(int forced) { return forced < 0 ? forced : forced % kMostKernels; }
constexpr int ChoiceOf(int forced) { return forced < 0 ? -1 : forced / kMostKernels - 1; }

// An op of the library.
class Op {
 public:
  // Checks the arguments of the export and launches a kernel, or answers the request if there is
  // one. Throws what Export catches.
  using Body = void (*)(const TVMFFIAny* args, int32_t count, Request* request);

  constexpr Op(const char* name, int64_t kind, int64_t schema, Body body, KernelTable kernels,
               Table<Array> arrays, Table<Attr> attrs, Table<Array> scratch)
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
  const KernelTable kernels;   // in dispatch order
  const Table<Array> arrays;   // arguments of the export: first these, outputs before inputs,
  const Table<Attr> attrs;     // then these without those of kDType,
  const Table<Array> scratch;  // then these
  std::atomic<int64_t> calls{0};
  // Kernels of this op that were registered while the process runs; see registered.h.
  std::atomic<int> registered{0};

  // Lists of arrays among the inputs. Their lengths come before all other arguments of the export,
  // and their arrays stand one by one where a single one would.
  int ListCount() const {
    int count = 0;
    for (const Array& a : arrays) count = a.list >= count ? a.list + 1 : count;
    return count;
  }
  // The name of a list, by its number.
  const char* ListName(int list) const {
    for (const Array& a : arrays) {
      if (a.list == list && (a.role == Role::kInput || a.role == Role::kMutated)) return a.name;
    }
    return "";
  }
  // How many arguments stand for an array in a call with these arguments.
  static int Repeats(const Array& a, const TVMFFIAny* args) {
    return a.list < 0 ? 1 : static_cast<int>(args[a.list].v_int64);
  }
  // The number of array arguments of a call, without scratch.
  int ArrayCount(const TVMFFIAny* args) const {
    int count = 0;
    for (const Array& a : arrays) count += Repeats(a, args);
    return count;
  }
  // Attributes that the export takes.
  int AttrCount() const;
  // The index of a kernel that is built in, or -1.
  int BuiltIn(std::string_view kernel) const;
  // The number by which a kernel that is built in is forced, or -1. The name may ask for
  // parameters, "product[rows=64,step=2]"; those that it leaves out have their first values.
  int Number(std::string_view kernel) const;
  // The names of all kernels in dispatch order, registered ones before those that are built in.
  std::vector<std::string> KernelNames() const;

  // The only kernel that may run: the number of one that is built in, the id of a registered one,
  // or negative. It is forced by Force, or by the environment variable <NAME>_KERNEL_<OP>.
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
