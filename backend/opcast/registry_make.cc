// The exports for callers that make arrays but do not know the rules of ops.
#include <algorithm>

#include "opcast/ffi_owned.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

// The address that an argument is; null for what is none.
void* Address(const TVMFFIAny& v) { return v.type_index == kTVMFFIOpaquePtr ? v.v_ptr : nullptr; }

// _opcast_op(name, schema): the op, for _opcast_make; None if the library has none of that name, or
// made from another definition.
void OpFor(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_op", args, count, 2);
  Op* const op = FindOp(call.Str(0, "name"));
  if (op == nullptr || op->schema != call.Int(1, "schema")) return;
  result->type_index = kTVMFFIOpaquePtr;
  result->v_ptr = op;
}

// _opcast_make(op, allocate, context, arguments of the op's export...): the call of the export,
// with an allocator.
void Make(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  constexpr int kHead = 3;
  const Call call("_opcast_make", args, count, std::max(count, kHead));
  const auto* const op = static_cast<const Op*>(Address(args[0]));
  const auto allocate = reinterpret_cast<bool (*)(void*, DLTensor*)>(Address(args[1]));
  if (op == nullptr) call.WrongType(0, "op", "a result of _opcast_op");
  if (allocate == nullptr) call.WrongType(1, "allocate", "a function");
  const Allocator allocator{allocate, Address(args[2])};
  Request request{Request::Task::kLaunch, &allocator};
  if (Export(*op, args + kHead, count - kHead, &request) != 0) throw Raised();
}

}  // namespace
}  // namespace opcast

OPCAST_META(op, OpFor)
OPCAST_META(make, Make)
