// grad_logits[i, j] = grad_loss[i] * (exp(logits[i, j] - lse[i]) - (1 - s) [j = target[i]] - s /
// V), where s is the label smoothing; dense rows. Without smoothing, only the column of the target
// has a difference that may cancel: it is computed in double, the others in float, for float32 with
// what the difference of two floats loses. With smoothing, or a gradient near the ends of float's
// range, all is double. Rounded once.
#include "cpu/lib/standard_headers.h"

#include <cmath>

#include "common/integer_arrays.h"
#include "cpu/lib/exp.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cross_entropy_backward.gen.h"

namespace opcast_ops {
namespace {

// grad * e^(x - lse) for a grad whose product with e^-kFar is 0 in float, and with e^kFar infinite.
template <int kWidth, class T>
inline float Part(float x, float lse, float grad) {
  constexpr float kFar = 174;
  const float d = x - lse;
  const bool far = __builtin_fabsf(d) > kFar;
  const float near = Select(far, __builtin_copysignf(kFar, d), d);
  ExpParts parts;
  if constexpr (std::is_same_v<T, float>)
    parts = SplitExp<kWidth>(near, Select(far, 0, Lack(x, -lse, d)));
  else
    parts = SplitPower<kWidth>(near * kLog2E);
  const int32_t half = parts.n >> 1;
  return parts.template Fraction<kWidth>() * PowerOfTwo(half) * grad * PowerOfTwo(parts.n - half);
}
inline bool IsOrdinary(float grad) {
  return __builtin_fabsf(grad) > 0x1p-100f && __builtin_fabsf(grad) < 0x1p75f;
}

// grad * (e^(x - lse) - less).
template <int kWidth>
inline double PartInDouble(double x, double lse, double grad, double less) {
  constexpr double kFar = 700, kInf = std::numeric_limits<double>::infinity();
  const double d = x - lse, least = Select(d < -kFar, -kFar, d);
  const double e = Exp<kWidth>(Select(least > kFar, kFar, least));
  return grad * (Select(d > kFar, kInf, Select(d < -kFar, 0.0, e)) - less);
}

template <int kWidth, class T>
inline void OfRow(const CrossEntropyBackwardArgs& a, const T* logits, T* grad_logits, bool past,
                  int64_t row) {
  const int64_t n = a.V, target = Numbers{a.target, a.I == opcast::DType::kI64}[row];
  const T* x = logits + row * n;
  T* to = grad_logits + row * n;
  const float lse = a.lse[row], grad = a.grad_loss[row];
  const double even = a.label_smoothing / static_cast<double>(n);
  if (target == a.ignore_index || target < 0 || target >= n) {
    const float all = target == a.ignore_index ? 0 : std::numeric_limits<float>::quiet_NaN();
    std::fill(to, to + n, static_cast<T>(all));
    return;
  }
  if (even == 0 && IsOrdinary(grad)) {
    const auto f = [lse, grad](float x) { return Part<kWidth, T>(x, lse, grad); };
    MapTo<kWidth>(Stores<>{past}, n, f, to, x);
  } else {
    const auto f = [lse, grad, even](double x) { return PartInDouble<kWidth>(x, lse, grad, even); };
    MapTo<kWidth>(Stores<>{past}, n, f, to, x);
  }
  const double hot = std::exp(double{static_cast<float>(x[target])} - double{lse});
  to[target] = Round<T>(grad * (hot - even - (1 - a.label_smoothing)));
}

template <class T>
opcast::Status OfAll(const CrossEntropyBackwardArgs& a, const T* logits, T* grad_logits,
                     const opcast::Launch& launch) {
  const bool past = PastCache(launch, grad_logits, a.batch * a.V, 2);
  const auto rows = [&a, logits, grad_logits, past](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) OfRow<width>(a, logits, grad_logits, past, i);
  };
  opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.V), rows);
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status CrossEntropyBackward(const CrossEntropyBackwardArgs& args,
                                    const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return OfAll(args, a.logits, a.grad_logits, launch); });
}

}  // namespace opcast_ops
