// The FFI side of the runtime: the arguments of an exported call and the rules on them.
//
// Generated exports read like the list of rules of their definition. A broken rule throws Fault,
// which Export turns into a tvm-ffi error; texts follow "<op>: <argument>: expected <what>, got
// <what>". Only tvm-ffi's C ABI is used. What decides is inline, for a call of a small op costs
// little more than its rules; what explains a fault is not.
#pragma once

#include <tvm/ffi/c_api.h>

#include <array>
#include <atomic>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opcast/exact.h"
#include "opcast/ffi_allocator.h"
#include "opcast/ffi_tensor.h"
#include "opcast/ffi_why.h"
#include "opcast/ints.h"

#define OPCAST_EXPORT extern "C" __attribute__((visibility("default")))

namespace opcast {

// An error on its way to the caller: the Python class and the whole text.
struct Fault {
  const char* kind;
  std::string text;
};

// Thrown after a tvm-ffi function failed: the error is raised already.
struct Raised {};

// The memory that follows the header of a tvm-ffi object.
template <class T>
const T* Cell(const TVMFFIAny& v) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(v.v_obj) + sizeof(TVMFFIObject));
}

// The tensor that an argument is; null if it is something else.
inline const DLTensor* AsTensor(const TVMFFIAny& v) {
  if (v.type_index == kTVMFFIDLTensorPtr) return static_cast<const DLTensor*>(v.v_ptr);
  return v.type_index == kTVMFFITensor ? Cell<DLTensor>(v) : nullptr;
}

// Integers as the frameworks pass them: numbers in memory, or values of tvm-ffi.
struct IntList {
  const int64_t* values = nullptr;
  const TVMFFIAny* items = nullptr;
  int64_t count = -1;  // of a value that is no list
};
IntList AsInts(const TVMFFIAny& v);

// The arguments of one exported call.
class Call {
 public:
  // Throws unless `count` is `expected`. Without an allocator all outputs have to be there.
  Call(const char* op, const TVMFFIAny* args, int32_t count, int32_t expected,
       const Allocator* allocator = nullptr)
      : op_(op), args_(args), allocator_(allocator) {
    if (count != expected) WrongCount(count, expected);
  }

  struct Name {
    int index;
    const char* name;
  };
  void Required(std::initializer_list<Name> names) const {
    for (const Name& n : names) {
      if (!Given(n.index)) Missing(n.name);
    }
  }
  // Absent if None.
  Tensor Array(int index, const char* name) const {
    const DLTensor* t = AsTensor(args_[index]);
    if (t == nullptr && Given(index)) WrongType(index, name, "DLPack tensor");
    return Tensor(*this, name, t);
  }
  double Float(int index, const char* name) const {
    const TVMFFIAny& v = args_[index];
    if (v.type_index == kTVMFFIFloat) return v.v_float64;
    if (v.type_index != kTVMFFIInt) WrongType(index, name, "float");
    return static_cast<double>(v.v_int64);
  }
  bool Given(int index) const { return args_[index].type_index != kTVMFFINone; }
  int64_t Int(int index, const char* name) const;
  bool Bool(int index, const char* name) const;
  // Valid while the call runs.
  std::string_view Str(int index, const char* name) const;
  int Choice(int index, const char* name, std::initializer_list<const char*> allowed) const;
  // Reads exactly n integers, or repeats a single one n times.
  void Ints(int index, const char* name, int n, int64_t* out) const;
  // Reads any number of integers; a single one is no list.
  std::vector<int64_t> AnyInts(int index, const char* name) const;
  void Among(const char* name, int64_t value, std::initializer_list<int64_t> allowed) const;
  void AtLeast(const char* name, double value, double bound, const char* text) const {
    if (!(value >= bound)) OutOfRange(name, "at least ", text, value);
  }
  void AtMost(const char* name, double value, double bound, const char* text) const {
    if (!(value <= bound)) OutOfRange(name, "at most ", text, value);
  }
  void AtLeast(const char* name, int64_t value, int64_t bound) const {
    if (value < bound) OutOfRange(name, "at least ", bound, value);
  }
  void AtMost(const char* name, int64_t value, int64_t bound) const {
    if (value > bound) OutOfRange(name, "at most ", bound, value);
  }

  void SameDevice(const Tensor& t, const Tensor& first) const {
    if (!t.together(first)) WrongDevice(t, first);
  }
  void DTypeIn(const Tensor& t, std::initializer_list<DType> allowed) const {
    for (DType d : allowed) {
      if (t.dtype() == d) return;
    }
    WrongDType(t, allowed);
  }
  void DTypeAs(const Tensor& t, DType expected, const char* other) const {
    if (t.dtype() != expected) WrongDType(t, expected, other);
  }
  void Rank(const Tensor& t, int rank) const {
    if (t.rank() != rank) WrongRank(t, "", rank);
  }
  void RankAtLeast(const Tensor& t, int rank) const {
    if (t.rank() < rank) WrongRank(t, "at least ", rank);
  }
  void SameBatch(const Tensor& t, int trailing, const Tensor& first, int first_trailing) const;
  // The x with coef * x + constant == t.size(dim); throws "of the form <form>" when there is none.
  int64_t Solve(const Tensor& t, int dim, int64_t coef, int64_t constant, const char* form) const;
  void Size(const Tensor& t, int dim, int64_t expected, std::initializer_list<Why> why) const {
    if (t.size(dim) != expected) WrongSize(t, dim, expected, why);
  }
  void Dense(const Tensor& t) const {
    if (!t.dense()) WrongStrides(t, "contiguous memory");
  }
  void LastDense(const Tensor& t) const {
    if (t.dense() || t.size(-1) == 1 || t.strides()[t.rank() - 1] == 1) return;
    WrongStrides(t, "a contiguous last dimension");
  }
  void AnyStride(const Tensor&) const {}
  void Data(const Tensor& t) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(t.data());
    if (!t.empty() && (at == 0 || (at & (t.item_size() - 1)) != 0)) WrongData(t);
  }
  // No two elements of t lie in one place.
  void Distinct(const Tensor& t) const;
  // `hint` says what to do about dtypes that break the condition; "" for other conditions.
  void Require(bool holds, const char* condition, std::initializer_list<Why> why,
               const char* hint = "") const {
    if (!holds) Broken(condition, why, hint);
  }
  // `what` is "output y" or "scratch part".
  void OutputSize(const char* what, const char* form, int64_t value) const {
    if (value < 0) NegativeSize(what, form, value);
  }
  // The output is given exactly when it is wanted; the reason says what decides.
  void Present(const Tensor& t, bool wanted, const char* reason) const {
    if (bool(t) != wanted) Unlike(t, reason);
  }
  // The output has the leading dims of `batch_of` (none if null), then `sizes`.
  void OutputShape(const Tensor& t, const Tensor* batch_of, int batch_trailing,
                   std::initializer_list<int64_t> sizes) const {
    if (batch_of == nullptr) return HasShape(t, nullptr, 0, sizes);
    HasShape(t, batch_of->shape(), batch_of->rank() - batch_trailing, sizes);
  }
  // Makes an output that is left to the library: on the device of `like`, with the leading dims of
  // `batch_of` (none if null), then `sizes`.
  void Make(Tensor& t, DType dtype, const Tensor& like, const Tensor* batch_of, int batch_trailing,
            std::initializer_list<int64_t> sizes) const {
    if (!t.unmade()) return;
    if (batch_of == nullptr) return MakeOf(t, dtype, like, nullptr, 0, sizes);
    MakeOf(t, dtype, like, batch_of->shape(), batch_of->rank() - batch_trailing, sizes);
  }
  // The same with `count` leading dims.
  void MakeOf(Tensor& t, DType dtype, const Tensor& like, const int64_t* leading, int count,
              std::initializer_list<int64_t> sizes) const;
  // The output has `count` leading dims, then `sizes`.
  void HasShape(const Tensor& t, const int64_t* leading, int count,
                std::initializer_list<int64_t> sizes) const {
    bool same = t.rank() == count + static_cast<int>(sizes.size());
    for (int d = 0; same && d < count; ++d) same = t.size(d) == leading[d];
    int d = count;
    for (int64_t s : sizes) same = same && t.shape()[d++] == s;
    if (!same) WrongShape(t, leading, count, sizes);
  }
  void Apart(const Tensor& t, std::initializer_list<const Tensor*> others) const {
    for (const Tensor* o : others) {
      if (!t.surely_apart(*o) && Overlap(t, *o)) NotApart(t, *o);
    }
  }

  // What elements have to be: see ffi_contents.cc. `text` is the bound as it is printed.
  void ValuesAtLeast(const Tensor& t, Exact bound, const std::string& text,
                     std::initializer_list<Why> why) const;
  void ValuesAtMost(const Tensor& t, Exact bound, const std::string& text,
                    std::initializer_list<Why> why) const;
  // The elements do not decrease, in row-major order.
  void Ascending(const Tensor& t) const;
  // Zeroes the rows from the one that `count` tells, which it has to be able to.
  void ZeroInvalid(const Tensor& t, const Tensor& count) const;

  [[noreturn, gnu::cold]] void Throw(const char* kind, const std::string& text) const;
  // "<op>: <name>: expected <expected>, got <got>".
  [[noreturn, gnu::cold]] void Expected(const char* kind, const char* name,
                                        const std::string& expected, const std::string& got) const;
  // The same for an argument that is of no type that would do.
  [[noreturn, gnu::cold]] void WrongType(int index, const char* name, const char* expected) const;
  [[noreturn, gnu::cold]] void Missing(const char* name) const;
  const char* op() const { return op_; }
  const TVMFFIAny* args() const { return args_; }
  const Allocator* allocator() const { return allocator_; }

  // Keeps what stands for an attribute that came as None, or for a number in the place of an array,
  // for kernels that get the arguments as they are. Value is an argument, or what stands for it.
  void Default(int index, double value) const { Keep(index).v_float64 = value; }
  void Default(int index, int64_t value) const {
    TVMFFIAny& kept = Keep(index);
    kept.type_index = kTVMFFIInt, kept.v_int64 = value;
  }
  void Default(int index, DLTensor* array) const {
    TVMFFIAny& kept = Keep(index);
    kept.type_index = kTVMFFIDLTensorPtr, kept.v_ptr = array;
  }
  const TVMFFIAny& Value(int index) const {
    for (int i = 0; i < defaults_; ++i) {
      if (places_[i] == index) return values_[i];
    }
    return args_[index];
  }

 private:
  void CopyInts(const IntList& list, const char* name, const std::string& what, int64_t* out) const;
  [[noreturn, gnu::cold]] void WrongCount(int32_t count, int32_t expected) const;
  [[noreturn, gnu::cold]] void OutOfRange(const char* name, const char* words, const char* bound,
                                          double value) const;
  [[noreturn, gnu::cold]] void OutOfRange(const char* name, const char* words, int64_t bound,
                                          int64_t value) const;
  [[noreturn, gnu::cold]] void WrongDevice(const Tensor& t, const Tensor& first) const;
  [[noreturn, gnu::cold]] void WrongDType(const Tensor& t,
                                          std::initializer_list<DType> allowed) const;
  [[noreturn, gnu::cold]] void WrongDType(const Tensor& t, DType expected, const char* other) const;
  [[noreturn, gnu::cold]] void WrongRank(const Tensor& t, const char* words, int rank) const;
  [[noreturn, gnu::cold]] void WrongSize(const Tensor& t, int dim, int64_t expected,
                                         std::initializer_list<Why> why) const;
  [[noreturn, gnu::cold]] void WrongStrides(const Tensor& t, const char* expected) const;
  [[noreturn, gnu::cold]] void WrongData(const Tensor& t) const;
  [[noreturn, gnu::cold]] void Broken(const char* condition, std::initializer_list<Why> why,
                                      const char* hint) const;
  [[noreturn, gnu::cold]] void NegativeSize(const char* what, const char* form,
                                            int64_t value) const;
  [[noreturn, gnu::cold]] void Unlike(const Tensor& t, const char* reason) const;
  [[noreturn, gnu::cold]] void WrongShape(const Tensor& t, const int64_t* leading, int count,
                                          std::initializer_list<int64_t> sizes) const;
  [[noreturn, gnu::cold]] void NotApart(const Tensor& t, const Tensor& other) const;

  TVMFFIAny& Keep(int index) const {
    if (defaults_ == kMaxDefaults)
      Throw("RuntimeError", "more than 32 computed defaults and numbers");
    places_[defaults_] = index;
    TVMFFIAny& kept = values_[defaults_++];
    kept = {};
    kept.type_index = kTVMFFIFloat;
    return kept;
  }

  static constexpr int kMaxDefaults = 32;

  const char* op_;
  const TVMFFIAny* args_;
  const Allocator* allocator_;
  mutable int defaults_ = 0;
  mutable int places_[kMaxDefaults];
  mutable TVMFFIAny values_[kMaxDefaults];
};

// Whether <NAME>_DEBUG=1 asks to look at the contents of arrays.
bool Debugging(const Call& call);
// Whether a call looks at integers that lead a kernel to its data: always on a CPU.
inline bool ChecksIndices(const Call& call, const Tensor& first) {
  return Debugging(call) || first.device().device_type == kDLCPU;
}

// Whether rows that mean nothing become zeros after each call: <NAME>_ZERO_INVALID=1.
bool ZeroingInvalid(const Call& call);

// Reads the environment variable <NAME>_<name> once, which is 0, 1 or absent. `known` keeps the
// answer; it begins as kUnreadSwitch.
inline constexpr int kUnreadSwitch = -1;
bool Switch(const Call& call, const char* name, std::atomic<int>* known);

// Runs an exported function's body; whatever it throws becomes a raised tvm-ffi error, so nothing
// crosses the C ABI.
int Export(const char* op, void (*body)(const TVMFFIAny*, int32_t, TVMFFIAny*),
           const TVMFFIAny* args, int32_t count, TVMFFIAny* result) noexcept;

}  // namespace opcast
