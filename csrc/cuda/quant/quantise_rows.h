// Quantising numbers: x / scale, limited and rounded to nearest, ties to even.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/quant_limits.h"
#include "cuda/lib/row_kernels.h"

namespace opcast_ops {

// x / scale as a number of Q: a quotient of floats, but for int8, where NaN become 0 and a quotient
// that looks like a tie is computed again.
template <class Q>
OPCAST_DEVICE Q Quantised(float x, float scale) {
  const float quotient = x / scale;
  float value = quotient;
  if constexpr (std::is_same_v<Q, int8_t>) {
    value = rintf(quotient);
    if (fabsf(quotient - value) == 0.5f)
      value = static_cast<float>(rint(static_cast<double>(x) / static_cast<double>(scale)));
    if (value != value) value = 0;
  }
  if (value > kMost<Q>) value = kMost<Q>;
  if (value < -kMost<Q>) value = -kMost<Q>;
  return static_cast<Q>(value);
}

// What becomes of a vector of T.
template <class T, class Q>
struct alignas(Vector<T>::kSize) QuantVector {
  Q at[Vector<T>::kSize];
};

// A row that is quantised by the scale that makes its largest magnitude the largest of Q.
template <class T, class Q>
struct QuantRow {
  using Element = T;
  const T* x;
  Q* q;
  float* scales;

  // Magnitudes are compared as bits, among which NaN are the largest.
  template <class Form>
  OPCAST_DEVICE float Largest(Member& member, const Held<T, Form>& held) const {
    uint32_t largest[] = {0};
    const auto larger = [](uint32_t a, uint32_t b) { return a > b ? a : b; };
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      OPCAST_UNROLL
      for (const float value : values.at)
        largest[0] = larger(largest[0], opcast::detail::Bits(value) & 0x7fffffff);
    });
    member.Combine(largest, uint32_t{0}, larger);
    return opcast::detail::FromBits(largest[0]);
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held(member, x + row * n, there);
    const float wanted = Largest<Form>(member, held) / kMost<Q>;
    const float scale = wanted == 0 ? 1 : wanted;
    if (member.Writes(row)) scales[row] = scale;
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> values = Widen(held.At(k, begin));
      QuantVector<T, Q> result;
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) result.at[e] = Quantised<Q>(values.at[e], scale);
      Q* const to = q + row * n + begin;
      if constexpr (Form::kWhole) {
        *reinterpret_cast<QuantVector<T, Q>*>(to) = result;
      } else {
        for (int e = 0; e < values.kSize; ++e) {
          if (begin + e < n) to[e] = result.at[e];
        }
      }
    });
  }
};

// Quantises rows of n numbers, each by a scale of its own.
template <class T, class Q>
opcast::Status QuantiseRows(const opcast::Launch& launch, int64_t rows, int64_t n, const T* x, Q* q,
                            float* scales) {
  return ForRows(rows, n, AlignedRows<T>({x, q}, n), launch, QuantRow<T, Q>{x, q, scales});
}

}  // namespace opcast_ops
