// Gradients of the layer norms: grad_x[i, j] = rstd[i] * (g[i, j] - mean(g[i]) - z[i, j] *
// mean(g[i] * z[i])) with g = grad_y * weight and z = (x - mean) * rstd; grad_weight and grad_bias
// are the sums of grad_y * z and grad_y over the rows. Dense rows.
//
// Double where differences cancel (with two columns down to an ulp of rstd), and for float32, also
// of the weight alone. Of 16 bits, grad_y * weight is exact in float, other differences are floats,
// and what rows add to grad_weight and grad_bias is float for a few rows at a time; not so in rows
// that might leave the range of floats. Rounded once.
#pragma once

#include <cmath>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_sums.h"
#include "cpu/lib/vector_loops.h"
#include "cpu/norm/column_sums.h"
#include "opcast/kernel.h"

namespace opcast_ops {
namespace layer_norm {

// Rows of N elements with their mean and 1 / sqrt(variance + eps), and their gradients; grad_bias
// may be null.
template <class T_, class W_>
struct BackwardArrays {
  using T = T_;
  using W = W_;

  T* grad_x;
  W *grad_weight, *grad_bias;
  const T *grad_y, *x;
  const W* weight;
  const float *mean, *rstd;
  int64_t N;
};

// What grad_x is made of: rstd * (g - shift - (x - mean) * along).
struct Factors {
  double mean, rstd, shift, along;
};

// kExact says that floats have room for grad * weight.
template <int kWidth, bool kExact, class T>
inline Factors FactorsOf(const T* grad, const T* x, const float* weight, int64_t n, double mean,
                         double rstd) {
  WideLanes<kWidth> shift, along;
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    const auto weighted = WideProduct<kWidth, kExact>(grad + i, weight + i, count);
    WideLanes<kWidth> distance = WidenSome<kWidth>(x + i, count);
    distance.Subtract(mean);
    shift.Add(weighted);
    along.AddProduct(weighted, distance);
  });
  const double number = static_cast<double>(n);
  return {mean, rstd, shift.Total() / number, rstd * rstd * (along.Total() / number)};
}

// The same without vectors, which are filled up with zeros: of these an infinite mean would make
// NaN.
template <class T>
inline Factors FactorsOfInfinite(const T* grad, const T* x, const float* weight, int64_t n,
                                 double mean, double rstd) {
  const double number = static_cast<double>(n);
  const auto weighted = [=](int64_t j) { return double{static_cast<float>(grad[j])} * weight[j]; };
  const auto normal = [=](int64_t j) { return (static_cast<float>(x[j]) - mean) * rstd; };
  const double shift = Sum(n, weighted);
  const double along = Sum(n, [=](int64_t j) { return weighted(j) * normal(j); });
  return {mean, rstd, shift / number, rstd * (along / number)};
}

template <int kWidth, class T>
inline Factors FactorsInDouble(const T* grad, const T* x, const float* weight, int64_t n,
                               double mean, double rstd) {
  return std::isfinite(mean) && std::isfinite(rstd)
             ? FactorsOf<kWidth, false>(grad, x, weight, n, mean, rstd)
             : FactorsOfInfinite(grad, x, weight, n, mean, rstd);
}

// grad_x of one element.
template <int kWidth>
inline float Gradient(double weighted, double x, const Factors& f) {
  const double rest = Fma<kWidth>(f.mean - x, f.along, weighted - f.shift);
  return static_cast<float>(f.rstd * rest);
}

// Writes to grad_x.
template <int kWidth, class T>
inline void Gradients(const T* grad, const T* x, const float* weight, int64_t n,
                      const Factors& factors, T* grad_x) {
  const auto f = [factors](double grad, double x, double weight) {
    return Gradient<kWidth>(grad * weight, x, factors);
  };
  Map<kWidth>(n, f, grad_x, grad, x, weight);
}

// Writes to grad_x, and adds to the sums for grad_weight and, n further, grad_bias, for some rows
// at a time, so that the sums are loaded and stored only once.
template <int kWidth, class T>
inline void InDouble(const T* grad, const T* x, const float* weight, int64_t n, int64_t rows,
                     const Factors* factors, T* grad_x, double* sums) {
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    WideLanes<kWidth> w(LoadSome<kWidth>(weight + i, count)), to_weight, to_bias;
    to_weight.Load(sums + i, count);
    to_bias.Load(sums + n + i, count);
    for (int64_t r = 0; r < rows; ++r) {
      const Factors& f = factors[r];
      const int64_t at = r * n + i;
      WideLanes<kWidth> g(LoadSome<kWidth>(grad + at, count)), v(LoadSome<kWidth>(x + at, count));
      for (int k = 0; k < 2; ++k) {
        Doubles<kWidth> along, distance, normal, rest;
        along.all = typename Doubles<kWidth>::Vector{} - f.along;
        distance.all = v.halves[k].all - f.mean;
        normal.all = distance.all * f.rstd;
        rest.all = g.halves[k].all * w.halves[k].all - f.shift;
        MultiplyAdd(distance, along, &rest);
        MultiplyAdd(g.halves[k], normal, &to_weight.halves[k]);
        to_bias.halves[k].all += g.halves[k].all;
        v.halves[k].all = rest.all * f.rstd;
      }
      v.Narrow().StoreSome(grad_x + at, count);
    }
    to_weight.Store(sums + i, count);
    to_bias.Store(sums + n + i, count);
  });
}

// What float needs of a row of 16 bits. Where a difference is below `least`, float has lost too
// much.
struct FloatFactors {
  float mean = 0, rstd = 0, shift = 0, along = 0, least = 0;
};

// The same in float: the results of `count` columns, a multiple of a vector but for the last ones.
// Says for which of the rows no difference is too small. Fetches the next rows, too.
template <int kWidth, int kRows, class T>
inline void Block(const T* grad, const T* x, const float* weight, int64_t n, int64_t count,
                  const FloatFactors* rows, T* grad_x, float* sums, bool (&holds)[kRows]) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  int32_t small[kRows][kCount] = {};
  ForLanes<kWidth>(count, [&](int64_t i, auto count) {
    const auto w = LoadSome<kWidth>(weight + i, count);
    auto to_weight = LoadSome<kWidth>(sums + i, count),
         to_bias = LoadSome<kWidth>(sums + n + i, count);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const FloatFactors f = rows[r];
      const auto g = LoadSome<kWidth>(grad + r * n + i, count),
                 v = LoadSome<kWidth>(x + r * n + i, count);
      if constexpr (kRows > 1) {
        FetchToRead(grad + (r + kRows) * n + i);
        FetchToRead(x + (r + kRows) * n + i);
      }
      Lanes<kWidth> result;
#pragma GCC unroll 1
      for (int j = 0; j < kCount; ++j) {
        const float own = g.numbers[j], distance = v.numbers[j] - f.mean;
        const float rest = Fma<kWidth>(-distance, f.along, own * w.numbers[j] - f.shift);
        small[r][j] |= SignBits(__builtin_fabsf(rest) - f.least);
        result.numbers[j] = f.rstd * rest;
        to_weight.numbers[j] = Fma<kWidth>(own * distance, f.rstd, to_weight.numbers[j]);
        to_bias.numbers[j] += own;
      }
      result.StoreSome(grad_x + r * n + i, count, NoNan());
    }
    to_weight.Keep(sums + i, count);
    to_bias.Keep(sums + n + i, count);
  });
  for (int r = 0; r < kRows; ++r) holds[r] = NoneNegative(small[r]);
}

// The same for rows of 16 bits, in float but for blocks in which differences cancel.
template <int kWidth, int kRows, class T>
inline void Rows(const T* grad, const T* x, const float* weight, int64_t n, const Factors* factors,
                 const FloatFactors* floats, T* grad_x, float* sums) {
  constexpr int64_t kBlock = 128;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    bool holds[kRows];
    Block<kWidth>(grad + i, x + i, weight + i, n, count, floats, grad_x + i, sums + i, holds);
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = r * n + i;
      if (!holds[r])
        Gradients<kWidth>(grad + at, x + at, weight + i, count, factors[r], grad_x + at);
    }
  }
}

// Whether a row of 16 bits has no step in float that leaves its range, where the result does not; a
// step that falls below it makes less than half of the last place of the result. `farthest` is at
// least |x - mean|.
template <class T>
inline bool IsTame(const T* grad, int64_t n, double farthest, double rstd, float heaviest) {
  if (!(heaviest < 0x1p40f && farthest < 0x1p60 && rstd < 0x1p60)) return false;
  if (std::is_same_v<T, opcast::f16>) return true;
  const double z = farthest * rstd;
  return Most(grad, n) < 0x1p50f && z < 0x1p14 && rstd * (2 + z * z) < 0x1p16;
}

// Finds the factors of a row of 16 bits; says whether it IsTame.
template <int kWidth, class T>
inline bool FindFactors(const T* grad, const T* x, const float* weight, float heaviest, int64_t n,
                        double mean, double rstd, Factors* factors, FloatFactors* floats) {
  const double farthest = Most(x, n) + std::fabs(mean);
  if (!IsTame(grad, n, farthest, std::fabs(rstd), heaviest)) return false;
  *factors = FactorsOf<kWidth, true>(grad, x, weight, n, mean, rstd);
  if (!std::isfinite(factors->shift) || !std::isfinite(factors->along)) return false;
  // bfloat16 has three bits less to lose.
  constexpr double kLeast = std::is_same_v<T, opcast::f16> ? 0x1p-10 : 0x1p-13;
  const double terms = std::fabs(factors->shift) + 2 * farthest * std::fabs(factors->along);
  *floats = {static_cast<float>(mean), static_cast<float>(rstd), static_cast<float>(factors->shift),
             static_cast<float>(factors->along), static_cast<float>(kLeast * terms)};
  return std::isfinite(floats->along) && std::isfinite(floats->least);  // or steps may be NaN
}

constexpr int kRowsTogether = 4;

// Up to kRowsTogether rows in double.
template <int kWidth, class T>
inline void RowsInDouble(const T* grad, const T* x, const float* weight, int64_t n, int64_t rows,
                         const float* mean, const float* rstd, T* grad_x, double* totals) {
  Factors factors[kRowsTogether];
  for (int64_t r = 0; r < rows; ++r)
    factors[r] = FactorsInDouble<kWidth>(grad + r * n, x + r * n, weight, n, mean[r], rstd[r]);
  InDouble<kWidth>(grad, x, weight, n, rows, factors, grad_x, totals);
}

// The same for rows of 16 bits, in float where that IsTame.
template <int kWidth, class T>
inline void ShortRows(const T* grad, const T* x, const float* weight, float heaviest, int64_t n,
                      int64_t rows, const float* mean, const float* rstd, T* grad_x,
                      RowSums<kWidth>* sums) {
  Factors factors[kRowsTogether];
  FloatFactors floats[kRowsTogether];
  bool tame[kRowsTogether];
  int64_t tamed = 0;
  for (int64_t r = 0; r < rows; ++r) {
    tame[r] = FindFactors<kWidth>(grad + r * n, x + r * n, weight, heaviest, n, mean[r], rstd[r],
                                  factors + r, floats + r);
    tamed += tame[r];
  }
  if (tamed == kRowsTogether)
    return Rows<kWidth, kRowsTogether>(grad, x, weight, n, factors, floats, grad_x,
                                       sums->InFloat(kRowsTogether));
  for (int64_t r = 0; r < rows; ++r, grad += n, x += n, grad_x += n) {
    if (tame[r])
      Rows<kWidth, 1>(grad, x, weight, n, factors + r, floats + r, grad_x, sums->InFloat(1));
    else
      RowsInDouble<kWidth>(grad, x, weight, n, 1, mean + r, rstd + r, grad_x, sums->InDouble());
  }
}

template <class A>
opcast::Status BackwardOfAll(const A& a, int64_t count, const opcast::Launch& launch) {
  using W = typename A::W;
  const int64_t n = a.N;
  const auto rows = [&a, n](int64_t first, int64_t last, double* totals, auto width) {
    FloatRow<width, W> weight_row(n);
    const float* weight = weight_row.Read(a.weight);
    const float heaviest = Most(a.weight, n);
    RowSums<width> sums(2 * n, totals);
    for (int64_t i = first; i < last; i += kRowsTogether) {
      const auto *grad = a.grad_y + i * n, *x = a.x + i * n;
      const float *mean = a.mean + i, *rstd = a.rstd + i;
      const int64_t together = std::min<int64_t>(kRowsTogether, last - i);
      if constexpr (std::is_same_v<W, float>) {  // so may T be
        RowsInDouble<width>(grad, x, weight, n, together, mean, rstd, a.grad_x + i * n,
                            sums.InDouble());
      } else {
        ShortRows<width>(grad, x, weight, heaviest, n, together, mean, rstd, a.grad_x + i * n,
                         &sums);
      }
    }
    sums.Flush();
  };
  const auto store = [&a, n](int64_t begin, int64_t end, const double* totals) {
    W *grad_weight = a.grad_weight, *grad_bias = a.grad_bias;
    for (int64_t j = begin; j < std::min(end, n); ++j) grad_weight[j] = Round<W>(totals[j]);
    if (grad_bias == nullptr) return;
    for (int64_t j = std::max(begin, n); j < end; ++j) grad_bias[j - n] = Round<W>(totals[j]);
  };
  SumRows(launch, count, n, 2 * n, rows, store);
  return opcast::Status::Ok();
}

// layer_norm_backward.cc has these, for layernorm2d_backward.cc, too.
#define OPCAST_LAYER_NORM_BACKWARD(T) \
  template opcast::Status BackwardOfAll(const BackwardArrays<T, T>&, int64_t, const opcast::Launch&)
extern OPCAST_LAYER_NORM_BACKWARD(float);
extern OPCAST_LAYER_NORM_BACKWARD(opcast::f16);
extern OPCAST_LAYER_NORM_BACKWARD(opcast::bf16);

}  // namespace layer_norm
}  // namespace opcast_ops
