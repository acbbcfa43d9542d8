// Kernels that are registered while the process runs: callables of Python behind tvm-ffi functions.
//
// They come before the kernels that are built in, the last registered first. A call holds a share
// of every kernel that it may try, so removing one never takes it from under a call; and no lock is
// held while Python runs, for its own lock may be held by who waits for ours.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "opcast/launch.h"
#include "opcast/op.h"

namespace opcast {

// Ids of registered kernels are larger; smaller numbers are indexes of kernels that are built in.
constexpr int kRegistered = 1 << 16;

// Whether a registered kernel of the launch's device took the call; it has run then. Throws what
// the kernel raised, and NotImplementedError if a registered kernel is forced and refuses. *forced
// is the op's forced kernel, or negative; where that was a registered one which has gone, it
// becomes what is forced now. If none ran, it is no registered one.
bool RunRegistered(const Call& call, Op& op, const Launch& launch, int* forced);

// The registered kernels of an op in the order in which dispatch tries them.
struct Registration {
  std::string name;
  int device;  // DLDeviceType
};
std::vector<Registration> Registrations(const Op& op);

// Whether there is a registered kernel of that name. Calls use(id), which must be short, while it
// cannot be removed.
bool UseRegistered(const Op& op, std::string_view name, const std::function<void(int)>& use);

// What the registered kernels of all devices say. Reads no memory of the call.
std::vector<KernelAnswer> RegisteredAnswers(const Call& call, Op& op, const Launch& launch);

}  // namespace opcast
