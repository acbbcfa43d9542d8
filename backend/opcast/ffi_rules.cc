// What a broken rule says: one function per kind of rule, the same texts as in Python.
#include <cstdint>
#include <stdexcept>

#include "opcast/ffi.h"

namespace opcast {
namespace {

std::string Shape(const Tensor& t) { return "shape " + List(t.shape(), t.rank()); }

std::string Dimensions(int n) {
  return std::to_string(n) + (n == 1 ? " dimension" : " dimensions");
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

// Index of a dim in the shape as the user sees it.
std::string DimName(const Tensor& t, int dim) {
  return "dimension " + std::to_string(dim < 0 ? dim + t.rank() : dim);
}

}  // namespace

namespace {

std::string Shown(const Why& w) {
  switch (w.kind) {
    case Why::Kind::kInt:
      break;
    case Why::Kind::kBool:
      return w.value != 0 ? "True" : "False";
    case Why::Kind::kFloat:
      return Number(w.number);
    case Why::Kind::kList:
      return List(w.list, static_cast<int>(w.value));
    case Why::Kind::kText:
      return "'" + std::string(w.text) + "'";
    case Why::Kind::kDType:
      return DTypeName(static_cast<DType>(w.value));
  }
  return std::to_string(w.value);
}

}  // namespace

std::string Because(std::initializer_list<Why> why) {
  std::string s;
  for (const Why& w : why) {
    s += (s.empty() ? "" : ", ") + std::string(w.name) + " = " + Shown(w);
    if (w.of != nullptr) s += std::string(" of ") + w.of;
  }
  return s;
}

void Call::Throw(const char* kind, const std::string& text) const {
  throw Fault{kind, std::string(op_) + ": " + text};
}

void Call::Expected(const char* kind, const char* name, const std::string& expected,
                    const std::string& got) const {
  Throw(kind, std::string(name) + ": expected " + expected + ", got " + got);
}

void Call::WrongCount(int32_t count, int32_t expected) const {
  Throw("TypeError",
        "expected " + std::to_string(expected) + " arguments, got " + std::to_string(count));
}

void Call::Missing(const char* name) const {
  Throw("TypeError", std::string("missing required argument '") + name + "'");
}

void Call::OutOfRange(const char* name, const char* words, const char* bound, double value) const {
  Expected("ValueError", name, std::string(words) + bound, Number(value));
}

void Call::OutOfRange(const char* name, const char* words, int64_t bound, int64_t value) const {
  Expected("ValueError", name, words + std::to_string(bound), std::to_string(value));
}

void Call::WrongDevice(const Tensor& t, const Tensor& first) const {
  Expected("ValueError", t.name(),
           "device " + DeviceName(first.device()) + " (as " + first.name() + ")",
           DeviceName(t.device()));
}

void Call::WrongDType(const Tensor& t, std::initializer_list<DType> allowed) const {
  Expected("TypeError", t.name(), "dtype " + Names(allowed), DTypeName(t.dtype()));
}

void Call::WrongDType(const Tensor& t, DType expected, const char* other) const {
  Expected("TypeError", t.name(),
           std::string("dtype ") + DTypeName(expected) + " (as " + other + ")",
           DTypeName(t.dtype()));
}

void Call::WrongRank(const Tensor& t, const char* words, int rank) const {
  Expected("ValueError", t.name(), words + Dimensions(rank), Shape(t));
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

void Call::WrongSize(const Tensor& t, int dim, int64_t expected,
                     std::initializer_list<Why> why) const {
  std::string text = DimName(t, dim) + " to be " + std::to_string(expected);
  if (why.size() != 0) text += " (" + Because(why) + ")";
  Expected("ValueError", t.name(), text, Shape(t));
}

void Call::WrongStrides(const Tensor& t, const char* expected) const {
  Expected("ValueError", t.name(), expected, "strides " + List(t.strides(), t.rank()));
}

void Call::WrongData(const Tensor& t) const {
  if (t.data() == nullptr) Expected("ValueError", t.name(), "data", "a null pointer");
  Expected("ValueError", t.name(), "memory aligned to " + std::to_string(t.item_size()) + " bytes",
           "an address between");
}

void Call::Broken(const char* condition, std::initializer_list<Why> why, const char* hint) const {
  const std::string after = *hint == 0 ? "" : std::string(": ") + hint;
  Throw("ValueError", std::string("expected ") + condition + ", got " + Because(why) + after);
}

void Call::NegativeSize(const char* what, const char* form, int64_t value) const {
  Throw("ValueError", std::string(what) + " would have a negative dimension: " + form + " = " +
                          std::to_string(value));
}

void Call::Unlike(const Tensor& t, const char* reason) const {
  const std::string as = std::string(" (as ") + reason + ")";
  if (t) Expected("ValueError", t.name(), "None" + as, "an array");
  Expected("ValueError", t.name(), "an array" + as, "None");
}

void Call::WrongShape(const Tensor& t, const int64_t* leading, int count,
                      std::initializer_list<int64_t> sizes) const {
  std::string want = List(leading, count);
  want.pop_back();
  for (int64_t s : sizes) want += (want.size() > 1 ? ", " : "") + std::to_string(s);
  Expected("ValueError", t.name(), "shape " + want + "]", Shape(t));
}

void Call::NotApart(const Tensor& t, const Tensor& other) const {
  Expected("ValueError", t.name(), std::string("memory apart from ") + other.name(),
           "overlapping memory");
}

void TooLarge() { throw std::overflow_error("a size does not fit in 64 bits"); }

namespace {

void NotZero(int64_t divisor) {
  if (divisor == 0) throw std::domain_error("division by zero in a size");
}

}  // namespace

int64_t FloorDiv(int64_t a, int64_t b) {
  NotZero(b);
  if (b == -1) return Neg(a);  // the one quotient that could trap
  const int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

int64_t CeilDiv(int64_t a, int64_t b) {
  NotZero(b);
  if (b == -1) return Neg(a);
  const int64_t q = a / b;
  return a % b != 0 && (a % b < 0) == (b < 0) ? q + 1 : q;
}

int64_t Mod(int64_t a, int64_t b) {
  NotZero(b);
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Squares the base only while more bits follow, as the last square may overflow in vain.
int64_t Pow(int64_t base, int64_t exponent) {
  if (exponent < 0) throw std::domain_error("a size is not an integer");
  int64_t result = 1;
  for (;; base = Mul(base, base)) {
    if ((exponent & 1) != 0) result = Mul(result, base);
    if ((exponent >>= 1) == 0) return result;
  }
}

}  // namespace opcast
