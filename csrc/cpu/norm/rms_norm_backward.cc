// grad_x[i, j] = r * (g[i, j] - x[i, j] * r^2 * mean(g[i] * x[i])) with g = grad_y * weight and
// r = 1 / sqrt(mean(x[i]^2) + eps); grad_weight[j] is the sum of grad_y[i, j] * x[i, j] * r over
// all rows. Dense rows.
//
// Sums over a row are double, those over rows are float for a few rows at a time. For 16 bits the
// rest is float, in which products of two of them are exact: so the difference may cancel. Rows
// that might leave the range of floats, and float32, also of the weight alone, are computed in
// double. Rounded once.
#include "cpu/lib/standard_headers.h"

#include <cmath>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/row_sums.h"
#include "cpu/lib/vector_loops.h"
#include "cpu/norm/column_sums.h"
#include "rms_norm_backward.gen.h"

namespace opcast_ops {
namespace {

// What a row is summed up to.
struct Sums {
  double squares, along;  // of x * x and of grad * weight * x
};

// What follows from them: grad_x is scale * (grad * weight - x * share).
struct Factors {
  double scale, share;

  Factors(const Sums& row, int64_t n, double eps)
      : scale(1 / std::sqrt(row.squares / static_cast<double>(n) + eps)),
        share(scale * scale * (row.along / static_cast<double>(n))) {}
};

// kBits is how many bits both arrays and the weight have at most: floats have room for products of
// two of 12 bits, and of three of 8, which are raised above what is denormal.
template <int kWidth, int kBits, class T>
inline Sums SumsOf(const T* grad, const T* x, const float* weight, int64_t n) {
  constexpr float kUp = kBits <= 8 ? 0x1p64f : 1;
  WideLanes<kWidth> squares, along;
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    const auto g = LoadSome<kWidth>(grad + i, count), v = LoadSome<kWidth>(x + i, count),
               w = LoadSome<kWidth>(weight + i, count);
    squares.Add(WideProduct<kWidth, (kBits <= 12)>(v, v));
    if constexpr (kBits <= 8) {
      Lanes<kWidth> terms;
#pragma GCC unroll 1
      for (int j = 0; j < Lanes<kWidth>::kCount; ++j)
        terms.numbers[j] = g.numbers[j] * w.numbers[j] * kUp * v.numbers[j];
      along.Add(WideLanes<kWidth>(terms));
    } else {
      along.AddProduct(WideProduct<kWidth, (kBits <= 12)>(g, w), WideLanes<kWidth>(v));
    }
  });
  return {squares.Total(), along.Total() / kUp};
}

// The bits of both that count.
template <class T, class W>
constexpr int kBitsOf = std::is_same_v<W, float>                                  ? 24
                        : std::is_same_v<T, opcast::bf16> && std::is_same_v<W, T> ? 8
                                                                                  : 12;

// Whether a row of 16 bits has no step that leaves the range of floats, where the result does not;
// a step that falls below it makes less than half of the last place of the result.
inline bool IsTame(const Factors& factors, int64_t n, float most, float heaviest) {
  return most < 0x1p50f && heaviest < 0x1p40f && std::fabs(factors.share) < 0x1p120 &&
         factors.scale > 0x1p-40 && factors.scale * std::sqrt(n) < 0x1p16;
}

// Writes to grad_x and adds to grad_weight.
template <int kWidth, class T>
inline void InFloat(const T* grad, const T* x, const float* weight, int64_t n,
                    const Factors& factors, T* grad_x, float* grad_weight) {
  const float scale = static_cast<float>(factors.scale);
  const TwoFloats share(factors.share);
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    const auto g = LoadSome<kWidth>(grad + i, count), v = LoadSome<kWidth>(x + i, count),
               w = LoadSome<kWidth>(weight + i, count);
    Lanes<kWidth> result, sums = LoadSome<kWidth>(grad_weight + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
      const float value = v.numbers[j], weighted = g.numbers[j] * w.numbers[j];
      const float rest = Fma<kWidth>(-value, share.high, weighted);
      result.numbers[j] = scale * Fma<kWidth>(-value, share.low, rest);
      sums.numbers[j] = Fma<kWidth>(g.numbers[j] * value, scale, sums.numbers[j]);
    }
    result.StoreSome(grad_x + i, count, NoNan());
    sums.Keep(grad_weight + i, count);
  });
}

template <int kWidth, class T>
inline void InDouble(const T* grad, const T* x, const float* weight, int64_t n,
                     const Factors& factors, T* grad_x, double* grad_weight) {
  const double scale = factors.scale, share = factors.share;
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    WideLanes<kWidth> g(LoadSome<kWidth>(grad + i, count)), v(LoadSome<kWidth>(x + i, count)),
        w(LoadSome<kWidth>(weight + i, count)), sums;
    sums.Load(grad_weight + i, count);
    for (int k = 0; k < 2; ++k) {
      const auto own = g.halves[k].all, value = v.halves[k].all;
      sums.halves[k].all += own * value * scale;
      v.halves[k].all = (own * w.halves[k].all - value * share) * scale;
    }
    v.Narrow().StoreSome(grad_x + i, count);
    sums.Store(grad_weight + i, count);
  });
}

}  // namespace

opcast::Status RmsNormBackward(const RmsNormBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t first, int64_t last, double* totals, auto width) {
      FloatRow<width, W> weight_row(n);
      const float* weight = weight_row.Read(a.weight);
      const float heaviest = Most(a.weight, n);
      RowSums<width> sums(n, totals);
      for (int64_t i = first; i < last; ++i) {
        const auto *grad = a.grad_y + i * n, *x = a.x + i * n;
        auto* grad_x = a.grad_x + i * n;
        if constexpr (!std::is_same_v<W, float>) {  // nor is T then
          const Sums row = SumsOf<width, kBitsOf<T, W>>(grad, x, weight, n);
          const Factors factors(row, n, a.eps);
          if (IsTame(factors, n, Most(grad, n), heaviest)) {
            InFloat<width>(grad, x, weight, n, factors, grad_x, sums.InFloat(1));
            continue;
          }
        }
        const Factors factors(SumsOf<width, 24>(grad, x, weight, n), n, a.eps);
        InDouble<width>(grad, x, weight, n, factors, grad_x, sums.InDouble());
      }
      sums.Flush();
    };
    const auto store = [&a](int64_t begin, int64_t end, const double* totals) {
      W* grad_weight = a.grad_weight;
      for (int64_t j = begin; j < end; ++j) grad_weight[j] = Round<W>(totals[j]);
    };
    SumRows(launch, a.batch, n, n, rows, store);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
