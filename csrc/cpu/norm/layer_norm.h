// (x - mean) / sqrt(variance + eps) * weight + bias for dense rows, with the mean and the
// population variance of a row: what the layer norms share.
//
// Both come from one pass over the row. Where the mean is larger than the deviation, the variance
// cancels; then another pass takes the distances to the row's first number, of which n times as
// much as the variance cancels at most. In double, since the last sum may cancel; for 16 bits, also
// of weight and bias, what follows the moments is in parts of floats where that loses nothing that
// counts. Rounded once, as are the mean and 1 / sqrt(variance + eps) that a gradient needs.
#pragma once

#include <cmath>
#include <memory>

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/norm/norm_scale.h"
#include "opcast/kernel.h"

namespace opcast_ops {
namespace layer_norm {

// Rows of N elements, and what becomes of them. The mean and 1 / sqrt(variance + eps) may be null.
template <class T_, class W_>
struct Arrays {
  using T = T_;
  using W = W_;

  T* y;
  float *mean, *rstd;
  const T* x;
  const W *weight, *bias;
  int64_t N;
  double eps;
};

// A row that may be absent: zeros then.
template <class W>
class RowOrZeros {
 public:
  RowOrZeros(const W* row, int64_t n) : zeros_(row == nullptr ? new W[n] : nullptr), row_(row) {
    if (row != nullptr) return;
    std::fill(zeros_.get(), zeros_.get() + n, static_cast<W>(0.0f));
    row_ = zeros_.get();
  }
  const W* Get() const { return row_; }

 private:
  const std::unique_ptr<W[]> zeros_;
  const W* row_;
};

// The mean and variance of a row, and 1 / sqrt(variance + eps).
struct Moments {
  double mean, variance, rstd;
};

// The sums of x - base and of (x - base)^2 over a row.
struct Sums {
  double all[2], base;

  // The sum of (x - mean)^2.
  double Squares(double count) const { return all[1] - all[0] * all[0] / count; }
  Moments Of(double count, double eps) const {
    const double squares = Squares(count), variance = (squares < 0 ? 0 : squares) / count;
    return {base + all[0] / count, variance, 1 / std::sqrt(variance + eps)};
  }
};

// Adds a vector to both. Multiplies by 1, since conversions keep those units busy that only add.
template <class V>
inline void AddBoth(const V& distance, V* sums) {
  V one;
  one.all = typename V::Vector{} + 1;
  MultiplyAdd(distance, one, sums);
  MultiplyAdd(distance, distance, sums + 1);
}

// The moments of a row of n numbers, from their distances to the first one.
template <int kWidth, class T>
inline Moments MomentsOfDistances(const T* row, int64_t n, double eps) {
  float pad = n > 0 ? static_cast<float>(row[0]) : 0;
  if (!std::isfinite(pad)) pad = 0;
  const auto add = [pad](const auto* x, auto* sums) {
    auto distance = x[0];
    distance.all -= pad;
    AddBoth(distance, sums);
  };
  Sums sums{{}, pad};
  DoubleSums<kWidth>(n, {row}, add, sums.all, pad);
  return sums.Of(static_cast<double>(n), eps);
}

// The moments of a row of n numbers, in double.
template <int kWidth, class T>
inline Moments MomentsOf(const T* row, int64_t n, double eps) {
  const double count = static_cast<double>(n);
  Sums sums{};
  DoubleSums<kWidth>(n, {row}, [](const auto* x, auto* sums) { AddBoth(x[0], sums); }, sums.all);
  // Beyond, rounding errors would count where a bias cancels the result.
  const bool mean_is_small = sums.all[0] * sums.all[0] / count < sums.Squares(count);
  if (mean_is_small) return sums.Of(count, eps);
  return MomentsOfDistances<kWidth>(row, n, eps);
}

// (x - mean) * rstd * weight + bias.
template <int kWidth, class Nan>
struct Wide {
  using Number = double;
  static constexpr Nan kNan = {};

  explicit Wide(const Moments& row) : mean(row.mean), rstd(row.rstd) {}

  double operator()(double x, double weight, double bias) const {
    return Fma<kWidth>((x - mean) * rstd, weight, bias);
  }

  double mean, rstd;
};

// The same for x and weights of at most 11 bits. Mean and rstd are sums of two floats, of which the
// first has 12 bits: so rstd_high * weight is exact, and so is x - mean_high, but for an x that is
// tiny beside its row, whose difference gets what it lacks: then the bias may cancel their product.
// Holds where IsShort does and all elements of weight and bias are IsTame: nothing leaves the range
// of floats, and the numbers are not so near to each other, beside their mean or eps, that the
// second parts count.
inline bool IsShort(const Moments& row) {
  constexpr double kMost = 64;
  const double deviation = std::sqrt(row.variance);
  return std::fabs(row.mean) < kMost * deviation && kMost * deviation * row.rstd > 1 &&
         row.rstd > 0x1p-80 && row.rstd < 0x1p60;
}
inline bool IsTame(float weight, float bias) {
  return ((weight == 0) | (__builtin_fabsf(weight) > 0x1p-40f)) & HasRoom(weight) & HasRoom(bias);
}
template <int kWidth>
struct Short {
  using Number = float;
  static constexpr NoNan kNan = {};

  explicit Short(const Moments& row) {
    const double q = std::ldexp(1, std::ilogb(std::fmax(std::fabs(row.mean), 1 / row.rstd)) - 11);
    mean_high = static_cast<float>(std::nearbyint(row.mean / q) * q);
    const double r = std::ldexp(1, std::ilogb(row.rstd) - 11);
    rstd_high = static_cast<float>(std::nearbyint(row.rstd / r) * r);
    rstd_low = static_cast<float>(row.rstd - rstd_high);
    shift = static_cast<float>((mean_high - row.mean) * row.rstd);
  }

  float operator()(float x, float weight, float bias) const {
    const float distance = x - mean_high, lack = x - (distance + mean_high);
    const float low = Fma<kWidth>(lack, rstd_high, Fma<kWidth>(distance, rstd_low, shift));
    return Fma<kWidth>(low, weight, Fma<kWidth>(distance, rstd_high * weight, bias));
  }

  float mean_high, rstd_high, rstd_low, shift;
};

constexpr int64_t kMostRows = 4;

// y[r][j] = by[r](x[r][j], weight[j], bias[j]) for kMostRows consecutive rows, which share the
// vectors of weight and bias.
template <int kWidth, class F, class T, class W>
inline void NormaliseTogether(const F* by, int64_t n, const T* x, const W* weight, const W* bias,
                              T* y) {
  using V = typename F::Number;
  int64_t j = 0;
  for (; j + Lanes<kWidth>::kCount <= n; j += Lanes<kWidth>::kCount) {
    const auto weights = LoadAs<kWidth, V>(weight + j), biases = LoadAs<kWidth, V>(bias + j);
#pragma GCC unroll 4
    for (int64_t r = 0; r < kMostRows; ++r) {
      Lanes<kWidth> result;
      MapLanes(by[r], &result, Load<kWidth>(x + r * n + j), weights, biases);
      result.Store(y + r * n + j, F::kNan);
    }
  }
  for (int64_t r = 0; r < kMostRows; ++r)
    MapRest<kWidth>(F::kNan, n - j, by[r], y + r * n + j, x + r * n + j, weight + j, bias + j);
}

// The same for float32, of which Wide<kWidth, NoNan> makes the same bits. In vectors of doubles,
// which are read one by one: to take a vector of floats apart keeps those units busy that convert.
template <int kWidth>
inline void NormaliseTogether(const Wide<kWidth, NoNan>* by, int64_t n, const float* x,
                              const float* weight, const float* bias, float* y) {
  using V = Doubles<kWidth>;
  constexpr int kHalf = V::kCount;
  int64_t j = 0;
  for (; j + 2 * kHalf <= n; j += 2 * kHalf) {
    V weights[2], biases[2];
    for (int h = 0; h < 2; ++h) {
      weights[h].Load(weight + j + h * kHalf);
      biases[h].Load(bias + j + h * kHalf);
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kMostRows; ++r) {
      V results[2];
      for (int h = 0; h < 2; ++h) {
        V number;
        number.Load(x + r * n + j + h * kHalf);
        results[h] = biases[h];
        number.all = (number.all - by[r].mean) * by[r].rstd;
        MultiplyAdd(number, weights[h], &results[h]);
      }
      StoreFloats(results[0], results[1], y + r * n + j);
    }
  }
  for (int64_t r = 0; r < kMostRows; ++r)
    MapRest<kWidth>(NoNan(), n - j, by[r], y + r * n + j, x + r * n + j, weight + j, bias + j);
}

// Rows i to i + count computed by F.
template <class F, int kWidth, class A>
inline void NormaliseBy(const A& a, bool past, const Moments* rows, int64_t i, int64_t count) {
  const auto* x = a.x + i * a.N;
  auto* y = a.y + i * a.N;
  if (count == kMostRows && !past) {
    const F by[] = {F(rows[0]), F(rows[1]), F(rows[2]), F(rows[3])};
    return NormaliseTogether<kWidth>(by, a.N, x, a.weight, a.bias, y);
  }
  for (int64_t r = 0; r < count; ++r, x += a.N, y += a.N)
    MapTo<kWidth>(Stores<AnyNan>{past}, a.N, F(rows[r]), y, x, a.weight, a.bias);
}

// The same; `is_short` says whether Short holds. There is no NaN then.
template <int kWidth, class A>
inline void Normalise(const A& a, bool past, bool is_short, const Moments* rows, int64_t i,
                      int64_t count) {
  constexpr bool kFloat = std::is_same_v<typename A::W, float>;  // so may T be
  using Quick = std::conditional_t<kFloat, Wide<kWidth, NoNan>, Short<kWidth>>;
  if (is_short)
    NormaliseBy<Quick, kWidth>(a, past, rows, i, count);
  else
    NormaliseBy<Wide<kWidth, AnyNan>, kWidth>(a, past, rows, i, count);
}

// Rows i to i + count, at most kMostRows. `tame` says whether Short holds for weight and bias.
template <int kWidth, class A>
inline void Rows(const A& a, bool past, bool tame, int64_t i, int64_t count) {
  Moments rows[kMostRows];
  bool is_short[kMostRows];
  bool alike = true;
  for (int64_t r = 0; r < count; ++r) {
    rows[r] = MomentsOf<kWidth>(a.x + (i + r) * a.N, a.N, a.eps);
    is_short[r] = tame && IsShort(rows[r]);
    alike &= is_short[r] == is_short[0];
    if (a.mean != nullptr) a.mean[i + r] = Round<float>(rows[r].mean);
    if (a.rstd != nullptr) a.rstd[i + r] = Round<float>(rows[r].rstd);
  }
  if (alike) return Normalise<kWidth>(a, past, is_short[0], rows, i, count);
  for (int64_t r = 0; r < count; ++r) Normalise<kWidth>(a, past, is_short[r], rows + r, i + r, 1);
}

// All `count` rows; bias may be null.
template <class A>
opcast::Status ForAll(const A& given, int64_t count, const opcast::Launch& launch) {
  const bool past = PastCache(launch, given.y, count * given.N, 2);
  const auto rows = [&given, past](int64_t begin, int64_t end, auto width) {
    const RowOrZeros<typename A::W> bias(given.bias, given.N);
    A a = given;
    a.bias = bias.Get();
    const bool tame = AllOf<width>(a.N, IsTame, a.weight, a.bias);
    for (int64_t i = begin; i < end; i += kMostRows)
      Rows<width>(a, past, tame, i, std::min(kMostRows, end - i));
  };
  opcast::ParallelFor(launch, count, RowsPerChunk(given.N), rows);
  return opcast::Status::Ok();
}

// layer_norm.cc has these, for layernorm2d.cc, too.
#define OPCAST_LAYER_NORM(T) \
  template opcast::Status ForAll(const Arrays<T, T>&, int64_t, const opcast::Launch&)
extern OPCAST_LAYER_NORM(float);
extern OPCAST_LAYER_NORM(opcast::f16);
extern OPCAST_LAYER_NORM(opcast::bf16);

}  // namespace layer_norm
}  // namespace opcast_ops
