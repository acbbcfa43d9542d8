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

template <class T>
const T* Cell(const TVMFFIAny& v) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(v.v_obj) + sizeof(TVMFFIObject));
}

const DLTensor* AsTensor(const TVMFFIAny& v) {
  if (v.type_index == kTVMFFIDLTensorPtr) return static_cast<const DLTensor*>(v.v_ptr);
  if (v.type_index == kTVMFFITensor) return Cell<DLTensor>(v);
  return nullptr;
}

bool AsInt(const TVMFFIAny& v, int64_t* out) {
  if (v.type_index != kTVMFFIInt) return false;
  *out = v.v_int64;
  return true;
}

}  // namespace

Call::Call(const char* op, const TVMFFIAny* args, int32_t count, int32_t expected)
    : op_(op), args_(args) {
  if (count == expected) return;
  Throw("TypeError",
        "expected " + std::to_string(expected) + " arguments, got " + std::to_string(count));
}

void Call::Throw(const char* kind, const std::string& text) const {
  throw Fault{kind, std::string(op_) + ": " + text};
}

void Call::Expected(const char* kind, const char* name, const std::string& expected,
                    const std::string& got) const {
  Throw(kind, std::string(name) + ": expected " + expected + ", got " + got);
}

void Call::WrongType(int index, const char* name, const char* expected) const {
  Expected("TypeError", name, expected, TypeName(args_[index]));
}

void Call::Required(std::initializer_list<Name> names) const {
  for (const Name& n : names) {
    if (!Given(n.index))
      Throw("TypeError", std::string("missing required argument '") + n.name + "'");
  }
}

Tensor Call::Array(int index, const char* name) const {
  const DLTensor* t = AsTensor(args_[index]);
  if (t == nullptr && Given(index)) WrongType(index, name, "DLPack tensor");
  if (t != nullptr) Countable(*t, name);
  return Tensor(name, t);
}

double Call::Float(int index, const char* name) const {
  const TVMFFIAny& v = args_[index];
  if (v.type_index == kTVMFFIFloat) return v.v_float64;
  int64_t i = 0;
  if (!AsInt(v, &i)) WrongType(index, name, "float");
  return static_cast<double>(i);
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
      return v.v_c_str;
    case kTVMFFISmallStr:
      return {v.v_bytes, v.small_str_len};
    case kTVMFFIByteArrayPtr: {  // how C passes strings that are not terminated
      const auto* b = static_cast<const TVMFFIByteArray*>(v.v_ptr);
      return {b->data, b->size};
    }
    case kTVMFFIStr: {
      const auto* b = Cell<TVMFFIByteArray>(v);
      return {b->data, b->size};
    }
    default:
      WrongType(index, name, "str");
  }
}

int Call::Choice(int index, const char* name, std::initializer_list<const char*> allowed) const {
  const std::string_view value = Str(index, name);
  std::string text;
  int i = 0;
  for (const char* a : allowed) {
    if (value == a) return i;
    text += std::string(i++ ? ", '" : "one of '") + a + "'";
  }
  Expected("ValueError", name, text, "'" + std::string(value) + "'");
}

void Call::Ints(int index, const char* name, int n, int64_t* out) const {
  const TVMFFIAny& v = args_[index];
  const std::string expected = n == 1 ? "1 integer" : std::to_string(n) + " integers";
  int64_t count = -1;
  const TVMFFIAny* items = nullptr;
  const int64_t* values = nullptr;
  if (v.type_index == kTVMFFIInt) {
    for (int i = 0; i < n; ++i) out[i] = v.v_int64;
    return;
  }
  if (v.type_index == kTVMFFIShape) {
    values = Cell<TVMFFIShapeCell>(v)->data;
    count = static_cast<int64_t>(Cell<TVMFFIShapeCell>(v)->size);
  } else if (v.type_index == kTVMFFIArray || v.type_index == kTVMFFIList) {
    items = static_cast<const TVMFFIAny*>(Cell<TVMFFISeqCell>(v)->data);
    count = Cell<TVMFFISeqCell>(v)->size;
  } else if (const Tensor t(name, AsTensor(v)); t && t.rank() == 1 && t.dtype() == DType::kI64 &&
                                                t.device().device_type == kDLCPU && t.dense()) {
    values = static_cast<const int64_t*>(t.data());  // how the XLA handlers pass lists
    count = values == nullptr ? 0 : t.size(0);
  } else {
    WrongType(index, name, expected.c_str());
  }
  if (count != n) Expected("ValueError", name, expected, std::to_string(count));
  for (int i = 0; i < n; ++i) {
    if (values != nullptr) {
      out[i] = values[i];
    } else if (!AsInt(items[i], &out[i])) {
      Expected("TypeError", name, expected, TypeName(items[i]));
    }
  }
}

}  // namespace opcast
