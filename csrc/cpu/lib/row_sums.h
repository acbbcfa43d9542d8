// Sums over a row in double, and its largest number.
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/lib/float_vectors.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/vector_loops.h"

namespace opcast_ops {

// The products of floats: exact if both have at most 12 bits, but for their range.
template <int kWidth>
inline Lanes<kWidth> Product(const Lanes<kWidth>& x, const Lanes<kWidth>& y) {
  Lanes<kWidth> product;
#pragma GCC unroll 1
  for (int j = 0; j < Lanes<kWidth>::kCount; ++j) product.numbers[j] = x.numbers[j] * y.numbers[j];
  return product;
}

// As many doubles as a vector has floats, in two vectors.
template <int kWidth>
struct WideLanes {
  using Half = Doubles<kWidth>;

  Half halves[2] = {};

  WideLanes() = default;
  explicit WideLanes(const Lanes<kWidth>& floats) {
    for (int k = 0; k < 2; ++k) halves[k].Load(floats.numbers + k * Half::kCount);
  }
  // Fewer numbers than there is room for, and zeros; or, where `n` is a constant, all of them.
  void Load(const double* from, int64_t n) {
    std::memcpy(halves, from, static_cast<size_t>(n) * sizeof(double));
  }
  template <int64_t kCount>
  void Load(const double* from, std::integral_constant<int64_t, kCount>) {
    for (int k = 0; k < 2; ++k)
      std::memcpy(&halves[k].all, from + k * Half::kCount, sizeof halves[k].all);
  }
  void Store(double* to, int64_t n) const {
    std::memcpy(to, halves, static_cast<size_t>(n) * sizeof(double));
  }
  template <int64_t kCount>
  void Store(double* to, std::integral_constant<int64_t, kCount>) const {
    for (int k = 0; k < 2; ++k) halves[k].Store(to + k * Half::kCount);
  }
  Lanes<kWidth> Narrow() const {
    Lanes<kWidth> floats;
    StoreFloats(halves[0], halves[1], floats.numbers);
    return floats;
  }

  void Subtract(double x) {
    for (Half& half : halves) half.all -= x;
  }
  void Multiply(const WideLanes& x) {
    for (int k = 0; k < 2; ++k) halves[k].all *= x.halves[k].all;
  }
  // Multiplies by 1, since conversions to double keep those units busy that only add.
  void Add(const WideLanes& x) {
    Half one;
    one.all = typename Half::Vector{} + 1;
    for (int k = 0; k < 2; ++k) MultiplyAdd(x.halves[k], one, &halves[k]);
  }
  void AddProduct(const WideLanes& x, const WideLanes& y) {
    for (int k = 0; k < 2; ++k) MultiplyAdd(x.halves[k], y.halves[k], &halves[k]);
  }

  double Total() const {
    double sums[Half::kCount];
    const auto all = halves[0].all + halves[1].all;
    std::memcpy(sums, &all, sizeof sums);
    return Tree<Half::kCount>(sums, [](double a, double b) { return a + b; });
  }
};

// x * y; kExact says that floats have room for the products.
template <int kWidth, bool kExact>
inline WideLanes<kWidth> WideProduct(const Lanes<kWidth>& x, const Lanes<kWidth>& y) {
  if constexpr (kExact) {
    return WideLanes<kWidth>(Product(x, y));
  } else {
    WideLanes<kWidth> product(x);
    product.Multiply(WideLanes<kWidth>(y));
    return product;
  }
}

// The same of numbers in memory, `count` as vector_loops.h gives it; and such numbers alone. A
// whole vector of bfloat16 is read in halves for AVX-512, each of which becomes a vector of
// doubles: to take a vector of floats apart keeps those units busy that convert.
template <int kWidth, class T, class Count>
constexpr bool kReadsHalves =
    kWidth == 64 && std::is_same_v<T, opcast::bf16> && !std::is_same_v<Count, int64_t>;
template <int kWidth, class T, class Count>
inline WideLanes<kWidth> WidenSome(const T* x, Count count) {
  if constexpr (kReadsHalves<kWidth, T, Count>) {
    WideLanes<kWidth> wide;
    for (auto& half : wide.halves) {
      half.Load(Load<kWidth / 2>(x).numbers);
      x += half.kCount;
    }
    return wide;
  } else {
    return WideLanes<kWidth>(LoadSome<kWidth>(x, count));
  }
}
template <int kWidth, bool kExact, class T, class W, class Count>
inline WideLanes<kWidth> WideProduct(const T* x, const W* y, Count count) {
  if constexpr (kExact && kReadsHalves<kWidth, T, Count>) {
    WideLanes<kWidth> product;
    for (auto& half : product.halves) {
      half.Load(Product(Load<kWidth / 2>(x), Load<kWidth / 2>(y)).numbers);
      x += half.kCount, y += half.kCount;
    }
    return product;
  } else {
    return WideProduct<kWidth, kExact>(LoadSome<kWidth>(x, count), LoadSome<kWidth>(y, count));
  }
}

// The largest magnitude of n numbers, or NaN if one of them is.
template <class T>
inline float Most(const T* x, int64_t n) {
  using Bits = std::conditional_t<sizeof(T) == 2, int16_t, int32_t>;
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  Bits most = 0;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, x + i, sizeof bits);
    bits &= kMagnitude;
    most = bits > most ? bits : most;
  }
  T number;
  std::memcpy(&number, &most, sizeof number);
  return static_cast<float>(number);
}

}  // namespace opcast_ops
