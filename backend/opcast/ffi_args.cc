// Reading attrs and arrays out of a tvm-ffi argument list, with errors that name the argument.
#include <cstring>

#include "opcast/ffi.h"

namespace opcast {
namespace {

const char* TypeName(const TVMFFIAny& v) {
  switch (v.type_index) {
    case kTVMFFINone:
      return "NoneType";
    case kTVMFFIInt:
    case kTVMFFIBigInt:
      return "int";
    case kTVMFFIBool:
      return "bool";
    case kTVMFFIFloat:
      return "float";
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr:
      return "str";
    case kTVMFFIByteArrayPtr:
    case kTVMFFISmallBytes:
    case kTVMFFIBytes:
      return "bytes";
    case kTVMFFIDataType:
      return "dtype";
    case kTVMFFIDevice:
      return "device";
    case kTVMFFIDLTensorPtr:
    case kTVMFFITensor:
      return "array";
    case kTVMFFIShape:
    case kTVMFFIArray:
    case kTVMFFIList:
      return "list";
    case kTVMFFIMap:
    case kTVMFFIDict:
      return "dict";
    case kTVMFFIFunction:
      return "function";
    default:
      return "object";
  }
}

bool AsInt(const TVMFFIAny& v, int64_t* out) {
  if (v.type_index != kTVMFFIInt) return false;
  *out = v.v_int64;
  return true;
}

}  // namespace

void Call::WrongType(int index, const char* name, const char* expected) const {
  Expected("TypeError", name, expected, TypeName(args_[index]));
}

int64_t Call::Int(int index, const char* name) const {
  int64_t i = 0;
  if (args_[index].type_index == kTVMFFIBigInt) {
    Expected("ValueError", name, "an integer of 64 bits", "a larger one");
  }
  if (!AsInt(args_[index], &i)) WrongType(index, name, "int");
  return i;
}

bool Call::Bool(int index, const char* name) const {
  if (args_[index].type_index != kTVMFFIBool) WrongType(index, name, "bool");
  return args_[index].v_int64 != 0;
}

std::string_view Call::Str(int index, const char* name) const {
  const TVMFFIAny& v = args_[index];
  switch (v.type_index) {
    case kTVMFFIRawStr:
      if (v.v_c_str == nullptr) break;
      return v.v_c_str;
    case kTVMFFISmallStr:
      return {v.v_bytes, v.small_str_len};
    case kTVMFFIByteArrayPtr: {  // how C passes strings that are not terminated
      const auto* b = static_cast<const TVMFFIByteArray*>(v.v_ptr);
      if (b == nullptr || (b->data == nullptr && b->size != 0)) break;
      return {b->data, b->size};
    }
    case kTVMFFIStr: {
      const auto* b = Cell<TVMFFIByteArray>(v);
      return {b->data, b->size};
    }
    default:
      WrongType(index, name, "str");
  }
  Expected("TypeError", name, "str", "a null pointer");
}

int Call::Choice(int index, const char* name, std::initializer_list<const char*> allowed) const {
  const std::string_view value = Str(index, name);
  int i = 0;
  for (const char* a : allowed) {
    if (value == a) return i;
    ++i;
  }
  std::string text;
  for (const char* a : allowed) text += std::string(text.empty() ? "one of '" : ", '") + a + "'";
  Expected("ValueError", name, text, "'" + std::string(value) + "'");
}

void Call::Among(const char* name, int64_t value, std::initializer_list<int64_t> allowed) const {
  std::string text;
  for (int64_t a : allowed) {
    if (value == a) return;
    text += (text.empty() ? "one of " : ", ") + std::to_string(a);
  }
  Expected("ValueError", name, text, std::to_string(value));
}

IntList AsInts(const TVMFFIAny& v) {
  if (v.type_index == kTVMFFIShape) {
    const auto* shape = Cell<TVMFFIShapeCell>(v);
    return {shape->data, nullptr, static_cast<int64_t>(shape->size)};
  }
  if (v.type_index == kTVMFFIArray || v.type_index == kTVMFFIList) {
    const auto* sequence = Cell<TVMFFISeqCell>(v);
    return {nullptr, static_cast<const TVMFFIAny*>(sequence->data), sequence->size};
  }
  const DLTensor* t = AsTensor(v);  // how the XLA handlers pass lists
  if (t == nullptr || t->ndim != 1 || t->device.device_type != kDLCPU || t->dtype.code != kDLInt ||
      t->dtype.bits != 64 || t->dtype.lanes != 1 || t->shape == nullptr) {
    return {};
  }
  const bool dense = t->strides == nullptr || t->shape[0] <= 1 || t->strides[0] == 1;
  if (!dense) return {};
  const char* data = static_cast<const char*>(t->data);
  if (data == nullptr) return {nullptr, nullptr, 0};
  return {reinterpret_cast<const int64_t*>(data + t->byte_offset), nullptr, t->shape[0]};
}

std::vector<int64_t> Call::AnyInts(int index, const char* name) const {
  const IntList list = AsInts(args_[index]);
  if (list.count < 0) WrongType(index, name, "integers");
  std::vector<int64_t> out(static_cast<size_t>(list.count));
  CopyInts(list, name, "integers", out.data());
  return out;
}

// Copies a list; `what` is in the text of the error about an element that is no integer.
void Call::CopyInts(const IntList& list, const char* name, const std::string& what,
                    int64_t* out) const {
  for (int64_t i = 0; i < list.count; ++i) {
    if (list.values != nullptr) {
      out[i] = list.values[i];
    } else if (!AsInt(list.items[i], &out[i])) {
      Expected("TypeError", name, what, TypeName(list.items[i]));
    }
  }
}

void Call::Ints(int index, const char* name, int n, int64_t* out) const {
  const TVMFFIAny& v = args_[index];
  if (v.type_index == kTVMFFIInt) {
    for (int i = 0; i < n; ++i) out[i] = v.v_int64;
    return;
  }
  const IntList list = AsInts(v);
  auto expected = [n] { return n == 1 ? "1 integer" : std::to_string(n) + " integers"; };
  if (list.count < 0) WrongType(index, name, expected().c_str());
  if (list.count != n) Expected("ValueError", name, expected(), std::to_string(list.count));
  CopyInts(list, name, expected(), out);
}

}  // namespace opcast
