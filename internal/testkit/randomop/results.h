// Results that need more than one look at the inputs: polynomials, and rows that are selected.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "fit.h"

namespace fit {

inline double Number(const char* at, opcast::DType t) {
  using opcast::DType;
  const auto read = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (t) {
    case DType::kF16:
      return read(opcast::f16());
    case DType::kBf16:
      return read(opcast::bf16());
    case DType::kF32:
      return read(float());
    default:
      return read(double());
  }
}

// Rounds a number to a dtype of floating point.
inline void Round(char* at, opcast::DType t, double y) {
  const auto put = [at](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (t) {
    case opcast::DType::kF16:
      return put(opcast::f16(static_cast<float>(y)));
    case opcast::DType::kBf16:
      return put(opcast::bf16(static_cast<float>(y)));
    case opcast::DType::kF32:
      return put(static_cast<float>(y));
    default:
      return put(y);
  }
}

// An array of a space of leading dims and sizes, some of which it has.
struct Factor {
  const Rows& values;
  opcast::DType type;
  std::vector<bool> has;
  bool given;
};

struct Term {
  double factor;
  std::vector<Factor> of;
};

// The place in an array of an index of the space.
inline int64_t Place(const std::vector<bool>& has, const std::vector<int64_t>& space,
                     const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < space.size(); ++d)
    if (has[d]) at = at * space[d] + index[d];
  return at;
}

// Sums of products, along the sizes that the result lacks. A term with an absent factor is zero.
inline void Polynomial(void* to, opcast::DType t, const std::vector<bool>& has,
                       const std::vector<int64_t>& space, const std::vector<Term>& terms) {
  int64_t count = 1, size = 1;
  for (size_t d = 0; d < space.size(); ++d) {
    count *= space[d];
    if (has[d]) size *= space[d];
  }
  std::vector<double> sums(static_cast<size_t>(size));
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> index(space.size());
    int64_t rest = i;
    for (size_t d = space.size(); d-- > 0; rest /= space[d]) index[d] = rest % space[d];
    for (const Term& term : terms) {
      if (std::any_of(term.of.begin(), term.of.end(), [](const Factor& f) { return !f.given; }))
        continue;  // 0 times infinity would be NaN
      double product = term.factor;
      for (const Factor& f : term.of) {
        product *=
            Number(f.values.bytes.data() + Place(f.has, space, index) * f.values.width, f.type);
      }
      sums[static_cast<size_t>(Place(has, space, index))] += product;
    }
  }
  for (int64_t i = 0; i < size; ++i)
    Round(static_cast<char*>(to) + i * Width(t), t, sums[static_cast<size_t>(i)]);
}

// How many elements are not zero.
inline int64_t Count(const Rows& marks) {
  int64_t count = 0;
  for (int64_t i = 0; i < marks.rows * marks.size; ++i) {
    bool set = false;
    for (int64_t k = 0; k < marks.width; ++k)
      set |= marks.bytes[static_cast<size_t>(i * marks.width + k)] != 0;
    count += set;
  }
  return count;
}

// Puts the marked rows of an array one after the other. What follows them is left as it is.
inline void Select(void* to, const Rows& from, const Rows& marks) {
  if (from.bytes.empty()) return;
  const size_t row = from.bytes.size() / static_cast<size_t>(marks.size);
  auto* next = static_cast<char*>(to);
  for (int64_t i = 0; i < marks.size; ++i) {
    const Rows one{
        {marks.bytes.begin() + i * marks.width, marks.bytes.begin() + (i + 1) * marks.width},
        1,
        1,
        marks.width};
    if (Count(one) == 0) continue;
    std::memcpy(next, from.bytes.data() + static_cast<size_t>(i) * row, row);
    next += row;
  }
}

}  // namespace fit
