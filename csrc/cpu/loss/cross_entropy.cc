// loss[i] = lse[i] - (1 - s) * logits[i, target[i]] - s * mean of logits[i], where lse[i] is the
// log-sum-exp of row i and s is the label smoothing; dense rows. One pass over memory: the largest
// logit and the sum of exponentials are brought along from part to part of a row. Exponentials are
// float, to an ulp; their sum, its logarithm and all differences are double, so that small losses
// are right to float's last digits too. Rounded once.
#include "cpu/lib/standard_headers.h"

#include <cmath>

#include "common/integer_arrays.h"
#include "cpu/lib/exp.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"
#include "cross_entropy.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kPart = 4096;  // of a row: what stays next to the CPU
constexpr float kEnd = -87;  // what is further below the largest logit counts as if it were here

// e^(x - max) for x <= max.
template <int kWidth, class T>
inline float Weight(float x, float max) {
  const float d = x - max, near = Select(d < kEnd, kEnd, d);
  if constexpr (std::is_same_v<T, float>) {
    const auto parts = SplitExp<kWidth>(near, Select(d < kEnd, 0, Lack(x, -max, d)));
    return parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
  } else {
    const auto parts = SplitExp<kWidth>(near);
    return parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
  }
}

// sum of e^(x - max) over the parts so far, and of x.
template <int kWidth, class T>
struct RowSums {
  float max = -std::numeric_limits<float>::infinity();
  double exps = 0, plain = 0;

  void Add(const T* x, int64_t n) {
    const float most = std::max(max, Max<kWidth>(n, x));
    if (most > max) {
      exps *= std::exp(double{max} - double{most});
      max = most;
    }
    const float shift = std::max(max, std::numeric_limits<float>::lowest());
    WideLanes<kWidth> sum;
    ForLanes<kWidth>(n, [&](int64_t i, auto count) {
      Lanes<kWidth> made;
      const auto f = [shift](float x) { return Weight<kWidth, T>(x, shift); };
      MapLanes(f, &made, LoadSome<kWidth>(x + i, count));
      for (int64_t j = count; j < made.kCount; ++j) made.numbers[j] = 0;
      sum.Add(WideLanes<kWidth>(made));
    });
    exps += sum.Total();
  }
  void AddPlain(const T* x, int64_t n) {
    const T* const alone[] = {x};
    plain += DoubleSum<kWidth>(n, alone, [](const auto* x, auto* sum) { sum->all += x[0].all; });
  }
};

template <int kWidth, class T>
inline void OfRow(const CrossEntropyArgs& a, const T* logits, int64_t row) {
  const int64_t n = a.V, target = Numbers{a.target, a.I == opcast::DType::kI64}[row];
  const T* x = logits + row * n;
  RowSums<kWidth, T> sums;
  for (int64_t i = 0; i < n; i += kPart) {
    const int64_t count = std::min(kPart, n - i);
    sums.Add(x + i, count);
    if (a.label_smoothing != 0) sums.AddPlain(x + i, count);
  }
  const double log = std::log(sums.exps);
  if (a.lse != nullptr) a.lse[row] = Round<float>(sums.max + log);
  if (target == a.ignore_index) {
    a.loss[row] = 0;
  } else if (target < 0 || target >= n) {
    a.loss[row] = std::numeric_limits<float>::quiet_NaN();
  } else {
    double less = (1 - a.label_smoothing) * static_cast<float>(x[target]);
    if (a.label_smoothing != 0) less += a.label_smoothing * sums.plain / static_cast<double>(n);
    a.loss[row] = Round<float>((sums.max - less) + log);
  }
}

template <class T>
opcast::Status OfAll(const CrossEntropyArgs& a, const T* logits, const opcast::Launch& launch) {
  const auto rows = [&a, logits](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) OfRow<width>(a, logits, i);
  };
  opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.V), rows);
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status CrossEntropy(const CrossEntropyArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return OfAll(args, a.logits, launch); });
}

}  // namespace opcast_ops
