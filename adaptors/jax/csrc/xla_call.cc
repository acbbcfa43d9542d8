#include "xla_call.h"

#include <cstring>
#include <string>

namespace opcast_jax {
namespace {

// The oldest minor version of the C API with all that is used here: a handler that reports a newer
// one than XLA knows is rejected.
constexpr int kApiMinor = 1;
// More than any op needs; all scratch of a call lives on the stack.
constexpr int kMaxValues = 64;
constexpr int kMaxDims = 512;

XLA_FFI_Error* Error(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const std::string& text) {
  XLA_FFI_Error_Create_Args args = {};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text.c_str();
  args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

XLA_FFI_Error_Code Code(const std::string& kind) {
  if (kind == "ValueError" || kind == "TypeError") return XLA_FFI_Error_Code_INVALID_ARGUMENT;
  if (kind == "NotImplementedError") return XLA_FFI_Error_Code_UNIMPLEMENTED;
  if (kind == "MemoryError") return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
  return XLA_FFI_Error_Code_INTERNAL;
}

// Turns the error that the export raised on this thread into XLA's, as "Class: text".
XLA_FFI_Error* Raised(const XLA_FFI_Api* api) {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr)
    return Error(api, XLA_FFI_Error_Code_INTERNAL, "RuntimeError: unknown error");
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  const std::string kind(cell->kind.data, cell->kind.size);
  const std::string text = kind + ": " + std::string(cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
  return Error(api, Code(kind), text);
}

// Collects the arguments of one call. A failure leaves its reason in `fault`.
class Arguments {
 public:
  explicit Arguments(const Op& op) : op_(op) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (int i = 0; i < count_; ++i) {
      if (values_[i].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(values_[i].v_obj);
    }
  }

  bool Collect(const XLA_FFI_CallFrame& frame) {
    if (op_.outputs + op_.inputs + op_.attr_count > kMaxValues) return Fail("too many arguments");
    return Buffers(frame) && Attributes(frame.attrs);
  }

  const TVMFFIAny* values() const { return values_; }
  int count() const { return count_; }
  const std::string& fault() const { return fault_; }

 private:
  bool Fail(const char* text) {
    fault_ = std::string("RuntimeError: ") + op_.name + ": " + text;
    return false;
  }

  TVMFFIAny& Push(int32_t type) {
    TVMFFIAny& value = values_[count_++];
    std::memset(&value, 0, sizeof(value));
    value.type_index = type;
    return value;
  }

  bool Buffers(const XLA_FFI_CallFrame& frame) {
    uint64_t present = ~uint64_t{0};
    if (op_.optional_inputs) {
      const int at = Find(frame.attrs, kPresent);
      if (at < 0) return Fail("the mask of inputs is missing");
      int64_t mask = 0;
      if (!Scalar(frame.attrs, at, XLA_FFI_DataType_S64, &mask)) return false;
      present = static_cast<uint64_t>(mask);
    }
    if (frame.rets.size != op_.outputs) return Fail("wrong number of outputs");
    for (int i = 0; i < op_.outputs; ++i) {
      if (!Buffer(frame.rets.rets[i])) return false;
    }
    int64_t next = 0;
    for (int i = 0; i < op_.inputs; ++i) {
      if ((present >> i & 1) == 0) {
        Push(kTVMFFINone);
      } else if (next == frame.args.size || !Buffer(frame.args.args[next++])) {
        return fault_.empty() ? Fail("too few inputs") : false;
      }
    }
    return next == frame.args.size || Fail("too many inputs");
  }

  // XLA's buffers are dense and row-major.
  bool Buffer(void* pointer) {
    const auto* buffer = static_cast<const XLA_FFI_Buffer*>(pointer);
    if (dims_ + buffer->rank > kMaxDims) return Fail("too many dimensions");
    DLTensor* t = &tensors_[tensor_count_++];
    *t = {};
    if (!Type(buffer->dtype, &t->dtype)) return Fail("unknown element type");
    t->data = buffer->data;
    t->device = {kDLCPU, 0};
    t->ndim = static_cast<int32_t>(buffer->rank);
    t->shape = buffer->dims;
    t->strides = strides_ + dims_;
    int64_t stride = 1;
    for (int64_t i = buffer->rank; i-- > 0; stride *= buffer->dims[i]) t->strides[i] = stride;
    dims_ += buffer->rank;
    Push(kTVMFFIDLTensorPtr).v_ptr = t;
    return true;
  }

  static bool Type(XLA_FFI_DataType type, DLDataType* out) {
    for (int i = 0; i < kDTypeCount; ++i) {
      if (kDTypes[i].xla == type) {
        *out = kDTypes[i].dlpack;
        return true;
      }
    }
    return false;
  }

  static int Find(const XLA_FFI_Attrs& attrs, const char* name) {
    const size_t length = std::strlen(name);
    for (int i = 0; i < attrs.size; ++i) {
      const XLA_FFI_ByteSpan* have = attrs.names[i];
      if (have->len == length && std::memcmp(have->ptr, name, length) == 0) return i;
    }
    return -1;
  }

  bool Attributes(const XLA_FFI_Attrs& attrs) {
    for (int i = 0; i < op_.attr_count; ++i) {
      const int at = Find(attrs, op_.attrs[i].name);
      if (at < 0) {
        Push(kTVMFFINone);
      } else if (!Attribute(attrs, at, op_.attrs[i].kind)) {
        return false;
      }
    }
    return true;
  }

  bool Attribute(const XLA_FFI_Attrs& attrs, int at, Attr::Kind kind) {
    switch (kind) {
      case Attr::kInt:
        return Scalar(attrs, at, XLA_FFI_DataType_S64, &Push(kTVMFFIInt).v_int64);
      case Attr::kFloat:
        return Scalar(attrs, at, XLA_FFI_DataType_F64, &Push(kTVMFFIFloat).v_float64);
      case Attr::kBool: {
        bool value = false;
        if (!Scalar(attrs, at, XLA_FFI_DataType_PRED, &value)) return false;
        Push(kTVMFFIBool).v_int64 = value;
        return true;
      }
      case Attr::kString:
        return String(attrs, at);
      case Attr::kInts:
        return Ints(attrs, at);
    }
    return Fail("unknown kind of attribute");
  }

  template <class T>
  bool Scalar(const XLA_FFI_Attrs& attrs, int at, XLA_FFI_DataType type, T* out) {
    const auto* scalar = static_cast<const XLA_FFI_Scalar*>(attrs.attrs[at]);
    if (attrs.types[at] != XLA_FFI_AttrType_SCALAR || scalar->dtype != type) {
      return Fail("an attribute has the wrong type");
    }
    std::memcpy(out, scalar->value, sizeof(T));
    return true;
  }

  bool String(const XLA_FFI_Attrs& attrs, int at) {
    if (attrs.types[at] != XLA_FFI_AttrType_STRING) return Fail("an attribute has the wrong type");
    const auto* span = static_cast<const XLA_FFI_ByteSpan*>(attrs.attrs[at]);
    const TVMFFIByteArray bytes = {span->ptr, span->len};
    return TVMFFIStringFromByteArray(&bytes, &Push(kTVMFFINone)) == 0 || Fail("out of memory");
  }

  // Integers travel as a one-dimensional tensor over XLA's memory.
  bool Ints(const XLA_FFI_Attrs& attrs, int at) {
    const auto* array = static_cast<const XLA_FFI_Array*>(attrs.attrs[at]);
    if (attrs.types[at] != XLA_FFI_AttrType_ARRAY || array->dtype != XLA_FFI_DataType_S64) {
      return Fail("an attribute has the wrong type");
    }
    if (dims_ + 2 > kMaxDims) return Fail("too many dimensions");
    DLTensor* t = &tensors_[tensor_count_++];
    int64_t* shape = strides_ + dims_;
    shape[0] = static_cast<int64_t>(array->size);
    shape[1] = 1;
    *t = {array->data, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, shape, shape + 1, 0};
    dims_ += 2;
    Push(kTVMFFIDLTensorPtr).v_ptr = t;
    return true;
  }

  const Op& op_;
  std::string fault_;
  int count_ = 0;
  int tensor_count_ = 0;
  int64_t dims_ = 0;
  TVMFFIAny values_[kMaxValues];
  DLTensor tensors_[kMaxValues];
  int64_t strides_[kMaxDims];
};

// XLA asks a new handler for its properties by calling it with this extension.
bool AnswerMetadata(const XLA_FFI_CallFrame& frame) {
  const auto* base = frame.extension_start;
  if (base == nullptr || base->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* metadata = reinterpret_cast<const XLA_FFI_Metadata_Extension*>(base)->metadata;
  metadata->api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  metadata->api_version.extension_start = nullptr;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = kApiMinor;
  metadata->traits = XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
  return true;
}

}  // namespace

XLA_FFI_Error* Call(int index, XLA_FFI_CallFrame* frame) noexcept {
  if (AnswerMetadata(*frame)) return nullptr;
  Arguments arguments(kOps[index]);
  if (!arguments.Collect(*frame)) {
    return Error(frame->api, XLA_FFI_Error_Code_INTERNAL, arguments.fault());
  }
  TVMFFIAny result = {};
  if (functions[index](nullptr, arguments.values(), arguments.count(), &result) == 0) {
    return nullptr;
  }
  return Raised(frame->api);
}

}  // namespace opcast_jax

// Gives the op its export and returns its handler, or null if this library was generated from
// another definition of it.
extern "C" __attribute__((visibility("default"))) void* opcast_jax_bind(const char* op,
                                                                        int64_t schema,
                                                                        void* function) {
  using opcast_jax::kOps;
  for (int i = 0; i < opcast_jax::kOpCount; ++i) {
    if (std::strcmp(kOps[i].name, op) != 0 || kOps[i].schema != schema) continue;
    opcast_jax::functions[i] = reinterpret_cast<TVMFFISafeCallType>(function);
    return reinterpret_cast<void*>(kOps[i].handler);
  }
  return nullptr;
}
