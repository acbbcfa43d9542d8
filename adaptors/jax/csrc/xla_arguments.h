// Turns the buffers and attributes of an XLA call into the arguments of an op's export.
#pragma once

#include <cstring>
#include <string>

#include "xla_call.h"
#include "xla_frame.h"

namespace opcast_jax {

// More than an op without lists needs: what such a call keeps lives on the stack.
inline constexpr int kMaxValues = 64, kMaxDims = 512;

// Collects the arguments of one call. A failure leaves its reason in `fault`.
class Arguments {
 public:
  Arguments(const Op& op, DLDevice device) : op_(op), device_(device) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (int i = 0; i < count_; ++i) {
      if (values_[i].type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(values_[i].v_obj);
    }
  }

  bool Collect(const XLA_FFI_CallFrame& frame) {
    if (op_.input_count > kMaxValues) return Fail("too many arguments");
    const int64_t arrays = frame.args.size + frame.rets.size;
    const int own = op_.output_count + op_.input_count + op_.attr_count + op_.scratch_count;
    const int64_t most =
        arrays + 2 * int64_t{own};  // those of lists, and what stands for absent ones
    values_.Reserve(most);
    tensors_.Reserve(most);
    strides_.Reserve(Dims(frame) + 2 * int64_t{op_.attr_count});
    return Lengths(frame.attrs) && Flags(frame) && Outputs(frame.rets, frame.attrs) &&
           Inputs(frame.args) && Attributes(frame.attrs) && Scratch(frame.rets) &&
           (next_result_ == frame.rets.size || Fail("too many results"));
  }

  const TVMFFIAny* values() const { return &values_[0]; }
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

  // Reads how many arrays each list has: the export takes that before all else.
  bool Lengths(const XLA_FFI_Attrs& attrs) {
    int lists = 0;
    for (int i = 0; i < op_.input_count; ++i) lists += op_.inputs[i].list >= 0 ? 1 : 0;
    if (lists == 0) return true;
    const int at = Find(attrs, kLengths);
    const auto* array = at < 0 ? nullptr : static_cast<const XLA_FFI_Array*>(attrs.attrs[at]);
    if (array == nullptr || attrs.types[at] != XLA_FFI_AttrType_ARRAY ||
        array->dtype != XLA_FFI_DataType_S64 || static_cast<int64_t>(array->size) != lists) {
      return Fail("the lengths of lists are missing");
    }
    lengths_ = static_cast<const int64_t*>(array->data);
    for (int i = 0; i < lists; ++i) Push(kTVMFFIInt).v_int64 = lengths_[i];
    return true;
  }

  int64_t Repeats(int list) const { return list < 0 ? 1 : lengths_[list]; }

  // Reads which inputs are given and whether saved outputs are wanted. A program that was stored
  // before the op had optional inputs gives the first ones, and wants none of the outputs that were
  // saved later.
  bool Flags(const XLA_FFI_CallFrame& frame) {
    const int present = Find(frame.attrs, kPresent), saved = Find(frame.attrs, kSaved);
    int64_t mask = 0;
    if (present >= 0 && !Scalar(frame.attrs, present, XLA_FFI_DataType_S64, &mask)) return false;
    int64_t left = frame.args.size;
    for (int i = 0; i < op_.input_count; ++i) {
      const bool there = present < 0 ? left > 0 : (mask >> i & 1) != 0;
      given_[i] = !op_.inputs[i].optional || there;
      left -= Repeats(op_.inputs[i].list);
    }
    return saved < 0 || Scalar(frame.attrs, saved, XLA_FFI_DataType_PRED, &saved_);
  }

  // Says whether an input is given, or, behind the inputs, an attribute of type bool is true.
  bool Given(int i, const XLA_FFI_Attrs& attrs, bool* given) {
    *given = i < op_.input_count ? given_[i] : op_.attrs[i - op_.input_count].integer != 0;
    if (i < op_.input_count) return true;
    const int at = Find(attrs, op_.attrs[i - op_.input_count].name);
    return at < 0 || Scalar(attrs, at, XLA_FFI_DataType_PRED, given);
  }

  bool Outputs(const XLA_FFI_Rets& rets, const XLA_FFI_Attrs& attrs) {
    for (int i = 0; i < op_.output_count; ++i) {
      const Output& output = op_.outputs[i];
      bool there = saved_ || !output.saved;
      if (output.present_if >= 0 && !Given(output.present_if, attrs, &there)) return false;
      if (!there) {
        Push(kTVMFFINone);
        continue;
      }
      for (int64_t n = Repeats(output.list); n > 0; --n) {
        if (next_result_ == rets.size) return Fail("too few results");
        if (!Buffer(*Result(rets))) return false;
      }
    }
    rets_ = &rets;
    return true;
  }

  bool Inputs(const XLA_FFI_Args& args) {
    int64_t next = 0;
    for (int i = 0; i < op_.input_count; ++i) {
      if (!given_[i]) {
        Push(kTVMFFINone);
        continue;
      }
      for (int64_t n = Repeats(op_.inputs[i].list); n > 0; --n) {
        if (next == args.size) return Fail("too few inputs");
        const auto* buffer = static_cast<const XLA_FFI_Buffer*>(args.args[next++]);
        if (!Input(op_.inputs[i], *buffer)) return false;
      }
    }
    return next == args.size || Fail("too many inputs");
  }

  // One array of an input.
  bool Input(const opcast_jax::Input& input, const XLA_FFI_Buffer& given) {
    if (!input.mutated) return Buffer(given);
    if (next_result_ == rets_->size) return Fail("too few results");
    const XLA_FFI_Buffer* result = Result(*rets_);
    const char* fault = Carry(given, *result, device_);
    return fault != nullptr ? Fail(fault) : Buffer(*result);
  }

  // All of it, or none where no kernel takes any.
  bool Scratch(const XLA_FFI_Rets& rets) {
    const bool given = next_result_ != rets.size;
    for (int i = 0; i < op_.scratch_count; ++i) {
      if (!given) {
        Push(kTVMFFINone);
      } else if (next_result_ == rets.size) {
        return Fail("too few results");
      } else if (!Buffer(*Result(rets))) {
        return false;
      }
    }
    return true;
  }

  const XLA_FFI_Buffer* Result(const XLA_FFI_Rets& rets) {
    return static_cast<const XLA_FFI_Buffer*>(rets.rets[next_result_++]);
  }

  // XLA's buffers are dense and row-major.
  bool Buffer(const XLA_FFI_Buffer& buffer) {
    if (dims_ + buffer.rank > strides_.size()) return Fail("too many dimensions");
    DLTensor* t = &tensors_[tensor_count_++];
    *t = {};
    if (!Type(buffer.dtype, &t->dtype)) return Fail("unknown element type");
    t->data = buffer.data;
    t->device = device_;
    t->ndim = static_cast<int32_t>(buffer.rank);
    t->shape = buffer.dims;
    t->strides = &strides_[dims_];
    int64_t stride = 1;
    for (int64_t i = buffer.rank; i-- > 0; stride *= buffer.dims[i]) t->strides[i] = stride;
    dims_ += buffer.rank;
    Push(kTVMFFIDLTensorPtr).v_ptr = t;
    return true;
  }

  bool Attributes(const XLA_FFI_Attrs& attrs) {
    for (int i = 0; i < op_.attr_count; ++i) {
      const int at = Find(attrs, op_.attrs[i].name);
      if (at < 0) {
        if (!Default(op_.attrs[i])) return false;
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

  // What stands for an attribute that the program does not have: None where the export knows.
  bool Default(const Attr& attr) {
    if (!attr.fixed) {
      Push(kTVMFFINone);
      return true;
    }
    switch (attr.kind) {
      case Attr::kInt:
        Push(kTVMFFIInt).v_int64 = attr.integer;
        return true;
      case Attr::kFloat:
        Push(kTVMFFIFloat).v_float64 = attr.number;
        return true;
      case Attr::kBool:
        Push(kTVMFFIBool).v_int64 = attr.integer;
        return true;
      case Attr::kString:
        return Text(attr.text, std::strlen(attr.text));
      case Attr::kInts:
        return Integers(attr.list, attr.count);
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
    return Text(span->ptr, span->len);
  }

  bool Text(const char* text, size_t length) {
    const TVMFFIByteArray bytes = {text, length};
    return TVMFFIStringFromByteArray(&bytes, &Push(kTVMFFINone)) == 0 || Fail("out of memory");
  }

  bool Ints(const XLA_FFI_Attrs& attrs, int at) {
    const auto* array = static_cast<const XLA_FFI_Array*>(attrs.attrs[at]);
    if (attrs.types[at] != XLA_FFI_AttrType_ARRAY || array->dtype != XLA_FFI_DataType_S64) {
      return Fail("an attribute has the wrong type");
    }
    return Integers(static_cast<const int64_t*>(array->data), static_cast<int64_t>(array->size));
  }

  // Integers travel as a one-dimensional tensor over memory that is there.
  bool Integers(const int64_t* list, int64_t count) {
    if (dims_ + 2 > strides_.size()) return Fail("too many dimensions");
    DLTensor* t = &tensors_[tensor_count_++];
    int64_t* shape = &strides_[dims_];
    shape[0] = count;
    shape[1] = 1;
    *t = {const_cast<int64_t*>(list), {kDLCPU, 0}, 1, {kDLInt, 64, 1}, shape, shape + 1, 0};
    dims_ += 2;
    Push(kTVMFFIDLTensorPtr).v_ptr = t;
    return true;
  }

  const Op& op_;
  const DLDevice device_;
  std::string fault_;
  const XLA_FFI_Rets* rets_ = nullptr;
  int64_t next_result_ = 0;
  bool saved_ = false;
  bool given_[kMaxValues];
  const int64_t* lengths_ = nullptr;
  int count_ = 0, tensor_count_ = 0;
  int64_t dims_ = 0;
  Room<TVMFFIAny, kMaxValues> values_;
  Room<DLTensor, kMaxValues> tensors_;
  Room<int64_t, kMaxDims> strides_;
};

}  // namespace opcast_jax
