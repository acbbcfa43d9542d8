// Quantising rows, each by a scale of its own. See codes.h.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"
#include "cuda/quant/codes.h"

namespace opcast_ops {

// A row that is quantised by the scale that makes its largest magnitude the largest of Q.
template <class T, class Q>
struct QuantRow {
  using Element = T;
  const T* x;
  ScaleRule rule;
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
    const float scale = rule.Scale<Q>(Largest<Form>(member, held));
    if (member.Writes(row)) scales[row] = scale;
    if (!there) return;
    const ScaleDivision division = ScaleDivision::By(scale);
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Codes<T, Q> codes = Quantised<Q, T>(Widen(held.At(k, begin)), division);
      StoreCodes<Form::kWhole>(codes, q + row * n, begin, n);
    });
  }
};

// Quantises rows of n numbers, each by a scale of its own.
template <class T, class Q>
opcast::Status QuantiseRows(const opcast::Launch& launch, int64_t rows, int64_t n, const T* x,
                            const ScaleRule& rule, Q* q, float* scales) {
  return ForRows(rows, n, AlignedRows<T>({x, q}, n), launch, QuantRow<T, Q>{x, rule, q, scales});
}

}  // namespace opcast_ops
