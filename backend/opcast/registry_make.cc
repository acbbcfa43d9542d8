// The exports for callers that make arrays but do not know the rules of ops.
#include <algorithm>
#include <string>

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

// _opcast_raise(text): raises the last error of this thread, if it is "<class>: <text>" of the
// given text; another one is dropped. For callers that got no more than the text from who called an
// op.
void RaiseAgain(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("_opcast_raise", args, count, 1);
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) return;
  Owned owned;
  owned.value.type_index = kTVMFFIError;
  owned.value.v_obj = static_cast<TVMFFIObject*>(error);
  const auto* cell = Cell<TVMFFIErrorCell>(owned.value);
  const std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                           std::string(cell->message.data, cell->message.size);
  if (text.c_str() != call.Str(0, "text")) return;  // up to a NUL, where exceptions of C++ end
  TVMFFIErrorSetRaised(error);
  throw Raised();
}

}  // namespace
}  // namespace opcast

OPCAST_META(op, OpFor)
OPCAST_META(make, Make)
OPCAST_META(raise, RaiseAgain)
