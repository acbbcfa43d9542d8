// The rules on a call, in C++: one function per kind of rule, the same texts as in Python.
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "opcast/ffi.h"

namespace opcast {
namespace {

std::string List(const int64_t* values, int n) {
  std::string s = "[";
  for (int i = 0; i < n; ++i) s += (i ? ", " : "") + std::to_string(values[i]);
  return s + "]";
}

std::string Shape(const Tensor& t) { return "shape " + List(t.shape(), t.rank()); }

std::string Dimensions(int n) {
  return std::to_string(n) + (n == 1 ? " dimension" : " dimensions");
}

std::string Because(std::initializer_list<Why> why) {
  std::string s;
  for (const Why& w : why) {
    s += (s.empty() ? "" : ", ") + std::string(w.name) + " = " + std::to_string(w.value);
    if (w.of != nullptr) s += std::string(" of ") + w.of;
  }
  return s;
}

std::string Names(std::initializer_list<DType> allowed) {
  std::string s;
  size_t i = 0;
  for (DType d : allowed) {
    if (i != 0) s += i + 1 == allowed.size() ? " or " : ", ";
    s += DTypeName(d);
    ++i;
  }
  return s;
}

std::string Number(double v) {
  if (v != v) return "nan";  // printf may write -nan
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

// Index of a dim in the shape as the user sees it.
std::string DimName(const Tensor& t, int dim) {
  return "dimension " + std::to_string(dim < 0 ? dim + t.rank() : dim);
}

uintptr_t ItemSize(const Tensor& t) { return (static_cast<unsigned>(t.dtype()) & 0xff) / 8; }

struct Range {
  uintptr_t begin, end;
};

// The bytes between the lowest and the highest element.
Range Extent(const Tensor& t) {
  const auto size = static_cast<int64_t>(ItemSize(t));
  auto low = reinterpret_cast<intptr_t>(t.data()), high = low;
  for (int d = 0; d < t.rank(); ++d) {
    const int64_t reach = (t.size(d) - 1) * t.strides()[d] * size;
    (reach < 0 ? low : high) += reach;
  }
  return {static_cast<uintptr_t>(low), static_cast<uintptr_t>(high + size)};
}

}  // namespace

void Call::AtLeast(const char* name, double value, double bound, const char* text) const {
  if (!(value >= bound))
    Expected("ValueError", name, std::string("at least ") + text, Number(value));
}

void Call::AtMost(const char* name, double value, double bound, const char* text) const {
  if (!(value <= bound))
    Expected("ValueError", name, std::string("at most ") + text, Number(value));
}

void Call::AtLeast(const char* name, int64_t value, int64_t bound) const {
  if (value < bound) {
    Expected("ValueError", name, "at least " + std::to_string(bound), std::to_string(value));
  }
}

void Call::AtMost(const char* name, int64_t value, int64_t bound) const {
  if (value > bound) {
    Expected("ValueError", name, "at most " + std::to_string(bound), std::to_string(value));
  }
}

void Call::SameDevice(const Tensor& t, const Tensor& first) const {
  const DLDevice a = t.device(), b = first.device();
  if (a.device_type == b.device_type && a.device_id == b.device_id) return;
  Expected("ValueError", t.name(), "device " + DeviceName(b) + " (as " + first.name() + ")",
           DeviceName(a));
}

void Call::DTypeIn(const Tensor& t, std::initializer_list<DType> allowed) const {
  for (DType d : allowed) {
    if (t.dtype() == d) return;
  }
  Expected("TypeError", t.name(), "dtype " + Names(allowed), DTypeName(t.dtype()));
}

void Call::DTypeAs(const Tensor& t, DType expected, const char* other) const {
  if (t.dtype() == expected) return;
  Expected("TypeError", t.name(),
           std::string("dtype ") + DTypeName(expected) + " (as " + other + ")",
           DTypeName(t.dtype()));
}

void Call::Rank(const Tensor& t, int rank) const {
  if (t.rank() != rank) Expected("ValueError", t.name(), Dimensions(rank), Shape(t));
}

void Call::RankAtLeast(const Tensor& t, int rank) const {
  if (t.rank() < rank) Expected("ValueError", t.name(), "at least " + Dimensions(rank), Shape(t));
}

void Call::SameBatch(const Tensor& t, int trailing, const Tensor& first, int first_trailing) const {
  const int n = first.rank() - first_trailing;
  bool same = t.rank() - trailing == n;
  for (int d = 0; same && d < n; ++d) same = t.size(d) == first.size(d);
  if (same) return;
  Expected("ValueError", t.name(),
           "leading dimensions " + List(first.shape(), n) + " (as " + first.name() + ")", Shape(t));
}

int64_t Call::Solve(const Tensor& t, int dim, int64_t coef, int64_t constant,
                    const char* form) const {
  const int64_t rest = t.size(dim) - constant;
  if (coef != 0 && rest % coef == 0 && rest / coef >= 0) return rest / coef;
  Expected("ValueError", t.name(), DimName(t, dim) + " to be of the form " + form, Shape(t));
}

void Call::Size(const Tensor& t, int dim, int64_t expected, std::initializer_list<Why> why) const {
  if (t.size(dim) == expected) return;
  std::string text = DimName(t, dim) + " to be " + std::to_string(expected);
  if (why.size() != 0) text += " (" + Because(why) + ")";
  Expected("ValueError", t.name(), text, Shape(t));
}

void Call::Dense(const Tensor& t) const {
  if (t.dense()) return;
  Expected("ValueError", t.name(), "contiguous memory", "strides " + List(t.strides(), t.rank()));
}

void Call::LastDense(const Tensor& t) const {
  if (t.rank() == 0 || t.empty() || t.size(-1) == 1 || t.strides()[t.rank() - 1] == 1) return;
  Expected("ValueError", t.name(), "a contiguous last dimension",
           "strides " + List(t.strides(), t.rank()));
}

void Call::Countable(const DLTensor& t, const char* name) const {
  if (t.ndim < 0) {
    Expected("ValueError", name, "at least 0 dimensions", std::to_string(t.ndim));
  }
  if (t.ndim > 0 && t.shape == nullptr) Expected("ValueError", name, "a shape", "a null pointer");
  int64_t count = 1;
  bool empty = false, negative = false, many = false;
  for (int d = 0; d < t.ndim; ++d) {
    empty = empty || t.shape[d] == 0;
    negative = negative || t.shape[d] < 0;
    many = __builtin_mul_overflow(count, t.shape[d], &count) || many;
  }
  const char* expected = negative         ? "no negative size"
                         : many && !empty ? "fewer elements than 2^63"
                         : t.strides == nullptr && t.ndim > Tensor::kMaxRank
                             ? "at most 16 dimensions"
                             : nullptr;
  if (expected != nullptr) Expected("ValueError", name, expected, "shape " + List(t.shape, t.ndim));
}

void Call::Data(const Tensor& t) const {
  if (t.empty()) return;
  if (t.data() == nullptr) Expected("ValueError", t.name(), "data", "a null pointer");
  const uintptr_t size = ItemSize(t);
  if (size > 1 && reinterpret_cast<uintptr_t>(t.data()) % size != 0) {
    Expected("ValueError", t.name(), "memory aligned to " + std::to_string(size) + " bytes",
             "an address between");
  }
}

void Call::Require(bool holds, const char* condition, std::initializer_list<Why> why) const {
  if (!holds) Throw("ValueError", std::string("expected ") + condition + ", got " + Because(why));
}

void Call::OutputSize(const char* output, const char* form, int64_t value) const {
  if (value >= 0) return;
  Throw("ValueError", std::string("output ") + output + " would have a negative dimension: " +
                          form + " = " + std::to_string(value));
}

void Call::OutputShape(const Tensor& t, const Tensor* batch_of, int batch_trailing,
                       std::initializer_list<int64_t> sizes) const {
  const int leading = batch_of == nullptr ? 0 : batch_of->rank() - batch_trailing;
  bool same = t.rank() == leading + static_cast<int>(sizes.size());
  for (int d = 0; same && d < leading; ++d) same = t.size(d) == batch_of->size(d);
  int d = leading;
  for (int64_t s : sizes) same = same && t.size(d++) == s;
  if (same) return;
  std::string want = leading == 0 ? "[" : List(batch_of->shape(), leading);
  if (leading != 0) want.pop_back();
  for (int64_t s : sizes) want += (want.size() > 1 ? ", " : "") + std::to_string(s);
  Expected("ValueError", t.name(), "shape " + want + "]", Shape(t));
}

void Call::Apart(const Tensor& t, std::initializer_list<const Tensor*> others) const {
  if (t.empty()) return;
  const Range mine = Extent(t);
  for (const Tensor* o : others) {
    if (!*o || o->empty()) continue;
    const Range theirs = Extent(*o);
    if (mine.begin >= theirs.end || theirs.begin >= mine.end) continue;
    Expected("ValueError", t.name(), std::string("memory apart from ") + o->name(),
             "overlapping memory");
  }
}

int64_t FloorDiv(int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("division by zero in a size");
  if (b == -1) return -a;  // the one quotient that could trap
  const int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

int64_t Mod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

int64_t Pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return 0;
  int64_t r = 1;
  for (; exponent > 0; --exponent) r *= base;
  return r;
}

}  // namespace opcast
