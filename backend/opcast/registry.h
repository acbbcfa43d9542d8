// The registry: every op of the library with its kernel variants, and the dispatch among them.
#pragma once

#include <atomic>
#include <cstring>
#include <string>

#include "opcast/ffi.h"

namespace opcast {

// One kernel of an op. `refuse` is null for a kernel that takes every call on its device; else it
// returns the reason for which the kernel cannot take this call, or null.
template <class Args>
struct Variant {
  const char* name;
  int device;  // DLDeviceType
  const char* (*refuse)(const Args&);
  Status (*launch)(const Args&, const Launch&);
};

// What the library knows about one op at run time. Lists of names are separated by commas.
class Op {
 public:
  constexpr Op(const char* name, int64_t kind, int64_t schema, const char* kernels,
               const char* arrays, const char* attrs)
      : name(name), kind(kind), schema(schema), kernels(kernels), arrays(arrays), attrs(attrs) {}

  const char* const name;
  const int64_t kind;
  const int64_t schema;       // hash of the definition
  const char* const kernels;  // variants in dispatch order
  const char* const arrays;   // arguments of the export: first these,
  const char* const attrs;    // then these
  std::atomic<int64_t> calls{0};

  // Index in kernels of the only name that may run, or negative. It is forced by Force, or by the
  // environment variable <NAME>_KERNEL_<OP>.
  int Forced() {
    const int index = forced_.load(std::memory_order_relaxed);
    return index == kUnread ? ReadForced() : index;
  }
  // Forces a variant; "" leaves it to the environment and dispatch again. Throws ValueError for an
  // unknown name.
  void Force(const std::string& kernel);

 private:
  std::atomic<int> forced_{kUnread};  // index into kernels
  static constexpr int kUnread = -2, kFree = -1;
  int IndexOf(const std::string& kernel) const;
  int ReadForced();
};

// Every op of the library; generated.
extern Op* const kOps[];
extern const int kOpCount;

// Prepares a launch on the device of `t`: its current stream.
void* StreamOf(DLDevice device);
inline Launch LaunchOn(const Tensor& t) {
  const DLDevice d = t.device();
  void* stream = d.device_type == kDLCPU ? nullptr : StreamOf(d);
  return {static_cast<int>(d.device_type), d.device_id, stream};
}

// Whether launches are written to stderr: <NAME>_LOG=calls, read with the first launch.
enum class Log { kUnread, kOff, kCalls };
extern std::atomic<Log> log_mode;
[[gnu::cold]] void LogLaunch(const Call& call, const Op& op, const char* kernel,
                             const Launch& launch);

[[noreturn]] void NoKernel(const Call& call, DLDevice device, const std::string& available,
                           const std::string& reasons);

// Explains why no variant took a call.
template <class Args, size_t N>
[[noreturn, gnu::cold]] void Refused(const Call& call, const Variant<Args> (&variants)[N],
                                     const Args& args, const Launch& launch, const char* forced) {
  std::string reasons, available;
  for (const Variant<Args>& v : variants) {
    const std::string device = DeviceName({static_cast<DLDeviceType>(v.device), 0});
    if (available.find(device) == std::string::npos)
      available += (available.empty() ? "" : ", ") + device;
    if (v.device != launch.device_type || (forced != nullptr && std::strcmp(forced, v.name) != 0))
      continue;
    reasons += (reasons.empty() ? "" : "; ") + std::string(v.name) + ": " + v.refuse(args);
  }
  NoKernel(call, {static_cast<DLDeviceType>(launch.device_type), launch.device_id}, available,
           reasons);
}

// Runs the first variant that supports the call, under the default floating-point environment:
// XLA's threads flush denormals, others do not, and bits must not depend on the caller.
template <class Args, size_t N>
void Dispatch(const Call& call, Op& op, const Variant<Args> (&variants)[N], const Args& args,
              const Launch& launch) {
  const int index = op.Forced();
  const char* const forced = index < 0 ? nullptr : variants[index].name;
  for (const Variant<Args>& v : variants) {
    if (v.device != launch.device_type || (forced != nullptr && std::strcmp(forced, v.name) != 0))
      continue;
    if (v.refuse != nullptr && v.refuse(args) != nullptr) continue;
    if (__builtin_expect(log_mode.load(std::memory_order_relaxed) != Log::kOff, false))
      LogLaunch(call, op, v.name, launch);
    const FpEnv environment;
    op.calls.fetch_add(1, std::memory_order_relaxed);
    const Status status = v.launch(args, launch);
    if (!status.ok()) call.Throw("RuntimeError", status.text());
    return;
  }
  Refused(call, variants, args, launch, forced);
}

}  // namespace opcast
