#include "opcast/registered_call.h"

#include <cctype>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "opcast/ffi_owned.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

// An array of the caller's, for a function that may keep it longer than the caller does: the shape
// is its own, and so is the memory if the caller's argument owned it.
struct View {
  DLManagedTensor managed{};
  std::vector<int64_t> dims;  // shape, then strides
  TVMFFIObjectHandle owner = nullptr;

  ~View() {
    if (owner != nullptr) TVMFFIObjectDecRef(owner);
  }
};

void FillStrides(const DLTensor& t, int64_t* strides) {
  int64_t step = 1;
  for (int d = t.ndim - 1; d >= 0; --d) {
    strides[d] = t.strides == nullptr ? step : t.strides[d];
    step *= t.shape[d];
  }
}

Owned ViewOf(const TVMFFIAny& argument) {
  const DLTensor& from = *AsTensor(argument);
  auto view = std::make_unique<View>();
  DLTensor& t = view->managed.dl_tensor;
  view->dims.resize(2 * static_cast<size_t>(from.ndim) + 1);  // never empty: tvm-ffi reads strides
  std::copy(from.shape, from.shape + from.ndim, view->dims.begin());
  FillStrides(from, view->dims.data() + from.ndim);
  t = from;
  t.shape = view->dims.data();
  t.strides = view->dims.data() + from.ndim;
  t.data = static_cast<char*>(from.data) + from.byte_offset;
  t.byte_offset = 0;
  if (t.device.device_type == kDLCPU) t.device.device_id = 0;  // frameworks look at it
  if (argument.type_index == kTVMFFITensor) {
    view->owner = argument.v_obj;
    TVMFFIObjectIncRef(view->owner);
  }
  view->managed.manager_ctx = view.get();
  view->managed.deleter = [](DLManagedTensor* m) { delete static_cast<View*>(m->manager_ctx); };
  TVMFFIObjectHandle handle = nullptr;
  if (TVMFFITensorFromDLPack(&view->managed, 0, 0, &handle) != 0) throw Raised();
  view.release();
  return Owned(kTVMFFITensor, handle);
}

// An argument as Python takes it: C may pass strings and lists as bytes and bare tensors.
Owned ArgumentOf(const TVMFFIAny& argument) {
  if (AsTensor(argument) != nullptr) return ViewOf(argument);
  if (argument.type_index == kTVMFFIByteArrayPtr) {
    const auto* bytes = static_cast<const TVMFFIByteArray*>(argument.v_ptr);
    return StringValue({bytes->data, bytes->size});
  }
  Owned v;
  v.value = argument;
  if (argument.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectIncRef(argument.v_obj);
  return v;
}

std::string TextOf(const TVMFFIAny& v) {
  if (v.type_index == kTVMFFISmallStr) return {v.v_bytes, v.small_str_len};
  if (v.type_index != kTVMFFIStr) return "";
  const auto* bytes = Cell<TVMFFIByteArray>(v);
  return {bytes->data, bytes->size};
}

// Raises what Python raised: its class, its text, and for callers in Python a list whose last item
// has the exception itself.
[[noreturn]] void Forward(const std::string& kind, const std::string& text, const Owned& list) {
  const TVMFFIByteArray k{kind.data(), kind.size()}, t{text.data(), text.size()}, none{nullptr, 0};
  TVMFFIObjectHandle error = nullptr;
  if (TVMFFIErrorCreateWithCauseAndExtraContext(&k, &t, &none, nullptr, list.value.v_obj, &error) !=
      0)
    throw std::bad_alloc();  // that raises nothing itself
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  throw Raised();
}

// Calls a function of Python. tvm-ffi loses what one raises if another exception comes while it
// puts the first into words, as a signal's may. Then the call fails without an error, which callers
// in Python would crash on.
Owned CallPython(const Function& f, const Call& call, std::vector<TVMFFIAny> arguments) {
  ForgetRaised();  // else an old error would pass for that of the function
  Owned result;
  const auto count = static_cast<int32_t>(arguments.size());
  if (TVMFFIFunctionCall(f.handle, arguments.data(), count, &result.value) == 0) return result;
  if (IsRaised()) throw Raised();
  call.Throw("RuntimeError", f.kernel + ": the " + f.role + " failed, and its exception was lost");
}

// A kernel of a GPU cannot read the array that stands for a number, which is the host's: it gets
// the number if it `reads`.
Owned Invoke(const Function& f, const Call& call, const Op& op, const Launch& launch, bool reads) {
  const int count = op.ListCount() + op.ArrayCount(call.args()) + op.AttrCount();
  std::vector<Owned> owned;
  std::vector<TVMFFIAny> arguments = {IntValue(launch.device_id),
                                      IntValue(reinterpret_cast<intptr_t>(launch.stream))};
  owned.reserve(count);
  for (int i = 0; i < count; ++i) {
    const bool as_given = reads && call.Given(i) && launch.device_type != kDLCPU;
    owned.push_back(ArgumentOf(as_given ? call.args()[i] : call.Value(i)));
    arguments.push_back(owned.back().value);
  }
  Owned result = CallPython(f, call, std::move(arguments));
  const IntList list = AsInts(result.value);
  if (list.items != nullptr && list.count == 3)
    Forward(TextOf(list.items[0]), TextOf(list.items[1]), result);
  if (result.value.type_index == kTVMFFIOpaquePyObject) {
    const std::string who = std::string(call.op()) + ": " + f.kernel + ": the " + f.role;
    Forward("RuntimeError", who + " raised an exception without a text", ArrayOf(&result, 1));
  }
  return result;
}

}  // namespace

void CallKernel(const Function& kernel, const Call& call, const Op& op, const Launch& launch) {
  Invoke(kernel, call, op, launch, true);
}

std::string CallPredicate(const Function& predicate, const Call& call, const Op& op,
                          const Launch& launch) {
  std::string reason = TextOf(Invoke(predicate, call, op, launch, false).value);
  for (char& c : reason) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';  // a reason is part of a line
  }
  return reason;
}

}  // namespace opcast
