// Integer arithmetic of definitions: that of Python in 64 bits. A value that does not fit throws
// std::overflow_error, a zero divisor or a negative exponent std::domain_error; Export reports both
// as a ValueError of the op.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opcast {

[[noreturn, gnu::cold]] void TooLarge();

inline int64_t Add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) TooLarge();
  return result;
}
inline int64_t Sub(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) TooLarge();
  return result;
}
inline int64_t Mul(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) TooLarge();
  return result;
}
inline int64_t Neg(int64_t a) { return Sub(0, a); }

int64_t FloorDiv(int64_t a, int64_t b);  // rounds towards minus infinity
int64_t CeilDiv(int64_t a, int64_t b);
int64_t Mod(int64_t a, int64_t b);  // has the sign of b
int64_t Pow(int64_t base, int64_t exponent);

template <class List>
int64_t Sum(const List& list) {
  int64_t total = 0;
  for (int64_t v : list) total = Add(total, v);
  return total;
}
template <class List>
constexpr int64_t Len(const List& list) {
  return static_cast<int64_t>(list.size());
}

}  // namespace opcast
