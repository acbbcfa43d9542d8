// Forcing of variants, launch set-up, and the exports that describe the library itself.
#include "opcast/registry.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cctype>
#include <cstdlib>
#include <cstring>

#ifndef OPCAST_COLLECTION
#error "define OPCAST_COLLECTION as the name of the collection"
#endif

namespace opcast {
namespace {

std::string Upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

// The index-th of the names in a comma separated list; "" past the end.
std::string Item(const char* list, int index) {
  const char* p = list;
  for (; index > 0; --index) {
    p = std::strchr(p, ',');
    if (p == nullptr) return "";
    ++p;
  }
  const char* end = std::strchr(p, ',');
  return end == nullptr ? p : std::string(p, end);
}

Op& Find(const Call& call, std::string_view name) {
  for (int i = 0; i < kOpCount; ++i) {
    if (name == kOps[i]->name) return *kOps[i];
  }
  call.Throw("KeyError", "no op '" + std::string(name) + "' in this library");
}

void ReturnInt(TVMFFIAny* result, int64_t value) {
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = value;
}

}  // namespace

int Op::IndexOf(const std::string& kernel) const {
  for (int i = 0;; ++i) {
    const std::string item = Item(kernels, i);
    if (item.empty()) {
      throw Fault{"ValueError",
                  std::string(name) + ": no kernel '" + kernel + "', available: " + kernels};
    }
    if (item == kernel) return i;
  }
}

int Op::ReadForced() {
  const std::string variable = Upper(std::string(OPCAST_COLLECTION) + "_KERNEL_" + name);
  const char* value = std::getenv(variable.c_str());
  const int read = value == nullptr || *value == '\0' ? kFree : IndexOf(value);
  int index = kUnread;
  return forced_.compare_exchange_strong(index, read) ? read : index;  // else a Force came between
}

void Op::Force(const std::string& kernel) {
  forced_.store(kernel.empty() ? kUnread : IndexOf(kernel), std::memory_order_relaxed);
}

void* StreamOf(DLDevice device) { return TVMFFIEnvGetStream(device.device_type, device.device_id); }

void NoKernel(const Call& call, DLDevice device, const std::string& available,
              const std::string& reasons) {
  const std::string where = DeviceName(device);
  if (!reasons.empty())
    call.Throw("NotImplementedError", "no kernel takes this call on " + where + ": " + reasons);
  call.Throw("NotImplementedError", "no kernel for device " + where + ", available: " + available);
}

namespace {

void Schema(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_schema", args, count, 1);
  ReturnInt(result, Find(call, call.Str(0, "op")).schema);
}

void Calls(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_calls", args, count, 1);
  ReturnInt(result, Find(call, call.Str(0, "op")).calls.load(std::memory_order_relaxed));
}

void Kernels(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_kernels", args, count, 1);
  const char* names = Find(call, call.Str(0, "op")).kernels;
  const TVMFFIByteArray bytes{names, std::strlen(names)};
  if (TVMFFIStringFromByteArray(&bytes, result) != 0) throw Raised();
}

void Force(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("_opcast_force", args, count, 2);
  Find(call, call.Str(0, "op")).Force(std::string(call.Str(1, "kernel")));
}

// The same memory under another dtype of equal width: NumPy's ml_dtypes arrays enter as views of
// unsigned integers.
void Retype(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_retype", args, count, 3);
  const Tensor t = call.Array(0, "tensor");
  const int64_t code = call.Int(1, "code"), bits = call.Int(2, "bits");
  if (!t || args[0].type_index != kTVMFFITensor) {
    call.Expected("TypeError", "tensor", "an owning tensor", "another type");
  }
  DLTensor view = *reinterpret_cast<const DLTensor*>(reinterpret_cast<const char*>(args[0].v_obj) +
                                                     sizeof(TVMFFIObject));
  if (bits != view.dtype.bits) {
    call.Expected("ValueError", "bits", std::to_string(view.dtype.bits), std::to_string(bits));
  }
  view.dtype.code = static_cast<uint8_t>(code);
  view.strides = const_cast<int64_t*>(t.strides());  // tvm-ffi wants some even for 0-d tensors
  TVMFFIObjectHandle out = nullptr;
  if (TVMFFITensorCreateUnsafeView(args[0].v_obj, &view, &out) != 0) throw Raised();
  result->type_index = kTVMFFITensor;
  result->zero_padding = 0;
  result->v_obj = static_cast<TVMFFIObject*>(out);
}

}  // namespace
}  // namespace opcast

#define OPCAST_META(symbol, body)                                                           \
  OPCAST_EXPORT int __tvm_ffi__opcast_##symbol(void*, const TVMFFIAny* args, int32_t count, \
                                               TVMFFIAny* result) {                         \
    return opcast::Export("_opcast_" #symbol, opcast::body, args, count, result);           \
  }
OPCAST_META(schema, Schema)
OPCAST_META(calls, Calls)
OPCAST_META(kernels, Kernels)
OPCAST_META(force, Force)
OPCAST_META(retype, Retype)
