// The registry: every op of the library with its kernel variants, and the dispatch among them.
#pragma once

#include <atomic>
#include <string>

#include "opcast/ffi.h"

namespace opcast {

// One kernel of an op. `refuse` is null for a kernel that takes every call on its device; else it
// returns the reason for which the kernel cannot take this call, or "".
template <class Args>
struct Variant {
  const char* name;
  int device;  // DLDeviceType
  std::string (*refuse)(const Args&);
  Status (*launch)(const Args&, const Launch&);
};

// What the library knows about one op at run time.
class Op {
 public:
  constexpr Op(const char* name, int64_t kind, int64_t schema, const char* kernels)
      : name(name), kind(kind), schema(schema), kernels(kernels) {}

  const char* const name;
  const int64_t kind;
  const int64_t schema;       // hash of the definition
  const char* const kernels;  // variant names in dispatch order, separated by commas
  std::atomic<int64_t> calls{0};

  // Name of the only variant that may run: forced by Force, or by the environment variable
  // <NAME>_KERNEL_<OP>.
  std::string Forced();
  // Forces a variant; "" leaves it to the environment and dispatch again. Throws ValueError for an
  // unknown name.
  void Force(const std::string& kernel);

 private:
  std::atomic<int> forced_{kUnread};  // index into kernels
  static constexpr int kUnread = -2, kFree = -1;
  int IndexOf(const std::string& kernel) const;
  int Read();
};

// Every op of the library; generated.
extern Op* const kOps[];
extern const int kOpCount;

// Prepares a launch on the device of `t`: its current stream.
Launch LaunchOn(const Tensor& t);
void CheckStatus(const Call& call, const Status& status);
[[noreturn]] void NoKernel(const Call& call, DLDevice device, const std::string& available,
                           const std::string& reasons);

// Runs the first variant that supports the call, under the default floating-point environment:
// XLA's threads flush denormals, others do not, and bits must not depend on the caller.
template <class Args, size_t N>
void Dispatch(const Call& call, Op& op, const Variant<Args> (&variants)[N], const Args& args,
              const Launch& launch) {
  const std::string forced = op.Forced();
  std::string reasons;
  for (const Variant<Args>& v : variants) {
    if (v.device != launch.device_type || (!forced.empty() && forced != v.name)) continue;
    const std::string reason = v.refuse == nullptr ? "" : v.refuse(args);
    if (reason.empty()) {
      const FpEnv environment;
      op.calls.fetch_add(1, std::memory_order_relaxed);
      return CheckStatus(call, v.launch(args, launch));
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(v.name) + ": " + reason;
  }
  std::string available;
  for (const Variant<Args>& v : variants) {
    const std::string device = DeviceName({static_cast<DLDeviceType>(v.device), 0});
    if (available.find(device) == std::string::npos)
      available += (available.empty() ? "" : ", ") + device;
  }
  NoKernel(call, {static_cast<DLDeviceType>(launch.device_type), launch.device_id}, available,
           reasons);
}

}  // namespace opcast
