// The FFI side of the runtime: the arguments of an exported call and the rules on them.
//
// Generated exports read like the list of rules of their definition. A broken rule throws Fault,
// which Export turns into a tvm-ffi error; texts follow "<op>: <argument>: expected <what>, got
// <what>". Only tvm-ffi's C ABI is used.
#pragma once

#include <tvm/ffi/c_api.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "opcast/kernel.h"

#define OPCAST_EXPORT extern "C" __attribute__((visibility("default")))

namespace opcast {

// An error on its way to the caller: the Python class and the whole text.
struct Fault {
  const char* kind;
  std::string text;
};

// Thrown after a tvm-ffi function failed: the error is raised already.
struct Raised {};

// A size in the explanation of a message: "N = 8 of x"; `of` is null for attrs and named sizes.
struct Why {
  const char* name;
  int64_t value;
  const char* of;
};

const char* DTypeName(DType dtype);  // "float32"; "unknown" outside the table

// One array argument; false when an optional one is absent. Does not own the memory.
class Tensor {
 public:
  Tensor(const char* name, const DLTensor* tensor);
  Tensor(const Tensor&) = delete;  // strides may point into the object
  Tensor& operator=(const Tensor&) = delete;

  static constexpr int kMaxRank = 16;  // of tensors that come without strides

  explicit operator bool() const { return tensor_ != nullptr; }
  const char* name() const { return name_; }
  DType dtype() const;
  DLDevice device() const { return tensor_->device; }
  int rank() const { return tensor_->ndim; }
  const int64_t* shape() const { return tensor_->shape; }
  const int64_t* strides() const { return strides_; }
  // Size of a dim; negative dims count from the end.
  int64_t size(int dim) const { return tensor_->shape[dim < 0 ? dim + tensor_->ndim : dim]; }
  // Product of the dims before the last `trailing` ones.
  int64_t batch(int trailing) const;
  bool empty() const;
  bool dense() const;
  // First element; null for an absent argument.
  void* data() const;
  Layout layout(int trailing) const { return {rank(), shape(), strides_, trailing}; }

 private:
  const char* name_;
  const DLTensor* tensor_;
  const int64_t* strides_ = nullptr;
  int64_t storage_[kMaxRank];
};

// The arguments of one exported call.
class Call {
 public:
  // Throws unless `count` is `expected`.
  Call(const char* op, const TVMFFIAny* args, int32_t count, int32_t expected);

  struct Name {
    int index;
    const char* name;
  };
  void Required(std::initializer_list<Name> names) const;
  Tensor Array(int index, const char* name) const;  // absent if None
  double Float(int index, const char* name) const;
  bool Given(int index) const { return args_[index].type_index != kTVMFFINone; }
  int64_t Int(int index, const char* name) const;
  bool Bool(int index, const char* name) const;
  // Valid while the call runs.
  std::string_view Str(int index, const char* name) const;
  int Choice(int index, const char* name, std::initializer_list<const char*> allowed) const;
  // Reads exactly n integers, or repeats a single one n times.
  void Ints(int index, const char* name, int n, int64_t* out) const;

  void AtLeast(const char* name, double value, double bound, const char* text) const;
  void AtMost(const char* name, double value, double bound, const char* text) const;
  void AtLeast(const char* name, int64_t value, int64_t bound) const;
  void AtMost(const char* name, int64_t value, int64_t bound) const;

  void SameDevice(const Tensor& t, const Tensor& first) const;
  void DTypeIn(const Tensor& t, std::initializer_list<DType> allowed) const;
  void DTypeAs(const Tensor& t, DType expected, const char* other) const;
  void Rank(const Tensor& t, int rank) const;
  void RankAtLeast(const Tensor& t, int rank) const;
  void SameBatch(const Tensor& t, int trailing, const Tensor& first, int first_trailing) const;
  // The x with coef * x + constant == t.size(dim); throws "of the form <form>" when there is none.
  int64_t Solve(const Tensor& t, int dim, int64_t coef, int64_t constant, const char* form) const;
  void Size(const Tensor& t, int dim, int64_t expected, std::initializer_list<Why> why) const;
  void Dense(const Tensor& t) const;
  void LastDense(const Tensor& t) const;
  void AnyStride(const Tensor&) const {}
  void Data(const Tensor& t) const;
  void Require(bool holds, const char* condition, std::initializer_list<Why> why) const;
  void OutputSize(const char* output, const char* form, int64_t value) const;
  // The output has the leading dims of `batch_of` (none if null), then `sizes`.
  void OutputShape(const Tensor& t, const Tensor* batch_of, int batch_trailing,
                   std::initializer_list<int64_t> sizes) const;
  void Apart(const Tensor& t, std::initializer_list<const Tensor*> others) const;

  [[noreturn]] void Throw(const char* kind, const std::string& text) const;
  // "<op>: <name>: expected <expected>, got <got>".
  [[noreturn]] void Expected(const char* kind, const char* name, const std::string& expected,
                             const std::string& got) const;
  const char* op() const { return op_; }

 private:
  [[noreturn]] void WrongType(int index, const char* name, const char* expected) const;
  // Refuses shapes that no memory can have, so that nobody after it has to care when multiplying.
  void Countable(const DLTensor& t, const char* name) const;
  const char* op_;
  const TVMFFIAny* args_;
};

// Integer arithmetic of definitions, as in Python: rounding towards minus infinity. A zero divisor
// throws std::domain_error, which Export reports as a ValueError of the op.
int64_t FloorDiv(int64_t a, int64_t b);
int64_t Mod(int64_t a, int64_t b);
inline int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }
template <size_t N>
int64_t Sum(const std::array<int64_t, N>& list) {
  int64_t total = 0;
  for (int64_t v : list) total += v;
  return total;
}
template <size_t N>
constexpr int64_t Len(const std::array<int64_t, N>&) {
  return N;
}
int64_t Pow(int64_t base, int64_t exponent);  // 0 for a negative exponent
std::string DeviceName(DLDevice device);      // "cpu", "cuda:0"

// Runs an exported function's body; whatever it throws becomes a raised tvm-ffi error, so nothing
// crosses the C ABI.
int Export(const char* op, void (*body)(const TVMFFIAny*, int32_t, TVMFFIAny*),
           const TVMFFIAny* args, int32_t count, TVMFFIAny* result) noexcept;

}  // namespace opcast
