// For each array, m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2 and
// p = (1 - lr * weight_decay) * p - lr / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps):
// AdamW as in "Decoupled weight decay regularization" (Loshchilov and Hutter, ICLR 2019), with the
// order of PyTorch's. Computed in double, since what is added up may cancel, and rounded once.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "adamw.gen.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"
#include "cpu/lib/streaming_stores.h"
#include "cpu/lib/vector_loops.h"

namespace opcast_ops {
namespace {

// The numbers of a step that are the same for all elements.
struct Factors {
  double beta1, new1, beta2, new2, eps, kept, rate, correction;

  explicit Factors(const AdamwArgs& args)
      : beta1(args.beta1),
        new1(1 - beta1),
        beta2(args.beta2),
        new2(1 - beta2),
        eps(args.eps),
        kept(1 - *args.lr * args.weight_decay),
        rate(*args.lr / (1 - std::pow(beta1, *args.step))),
        correction(1 / std::sqrt(1 - std::pow(beta2, *args.step))) {}
};

// The same in the lanes of vectors.
template <int kWidth>
struct FactorLanes {
  Doubles<kWidth> beta1, new1, beta2, new2, eps, kept, rate, correction;

  explicit FactorLanes(const Factors& by) {
    const auto fill = [](double x, Doubles<kWidth>* to) {
      to->all = typename Doubles<kWidth>::Vector{} + x;
    };
    fill(by.beta1, &beta1), fill(by.new1, &new1), fill(by.beta2, &beta2), fill(by.new2, &new2);
    fill(by.eps, &eps), fill(by.kept, &kept), fill(-by.rate, &rate);
    fill(by.correction, &correction);
  }
};

// One vector's worth of doubles.
template <int kWidth>
inline Doubles<kWidth> HalfOf(const Lanes<kWidth>& lanes, int half) {
  Doubles<kWidth> wide;
  wide.Load(lanes.numbers + half * wide.kCount);
  return wide;
}

// How many elements ahead of the work memory is fetched: square roots and quotients take so long
// that the CPU itself does not come to loads that are far enough away.
constexpr int64_t kAhead = 512;

template <int kWidth, class T>
inline void Move(const Factors& factors, int64_t n, T* params, const T* grads, float* means,
                 float* squares) {
  const FactorLanes<kWidth> by(factors);
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    FetchToWrite(params + i + kAhead);
    FetchToRead(grads + i + kAhead);
    FetchToWrite(means + i + kAhead);
    FetchToWrite(squares + i + kAhead);
    const auto p = LoadSome<kWidth>(params + i, count), g = LoadSome<kWidth>(grads + i, count),
               m = LoadSome<kWidth>(means + i, count), v = LoadSome<kWidth>(squares + i, count);
    WideLanes<kWidth> moved, mean, square;
    for (int half = 0; half < 2; ++half) {
      const Doubles<kWidth> grad = HalfOf<kWidth>(g, half);
      Doubles<kWidth>&own_mean = mean.halves[half], &own_square = square.halves[half], scaled, root;
      own_mean.all = by.beta1.all * HalfOf<kWidth>(m, half).all;
      MultiplyAdd(by.new1, grad, &own_mean);
      own_square.all = by.beta2.all * HalfOf<kWidth>(v, half).all;
      scaled.all = by.new2.all * grad.all;
      MultiplyAdd(scaled, grad, &own_square);
      Root(own_square, &root);
      Doubles<kWidth> divisor = by.eps, step;
      MultiplyAdd(root, by.correction, &divisor);
      step.all = by.rate.all * own_mean.all / divisor.all;
      MultiplyAdd(by.kept, HalfOf<kWidth>(p, half), &step);
      moved.halves[half] = step;
    }
    moved.Narrow().StoreSome(params + i, count);
    mean.Narrow().StoreSome(means + i, count);
    square.Narrow().StoreSome(squares + i, count);
  });
}

}  // namespace

opcast::Status Adamw(const AdamwArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const Factors by(args);
    // Chunks of all arrays are counted through: threads that met after each array would wait long.
    constexpr int64_t kMost = kChunk / 4;
    std::vector<int64_t> ends;
    for (size_t k = 0; k < a.params.size(); ++k)
      ends.push_back((k == 0 ? 0 : ends[k - 1]) + (a.batch[k] + kMost - 1) / kMost);
    const auto some = [&](int64_t first, int64_t last, auto width) {
      auto k =
          static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), first) - ends.begin());
      for (int64_t chunk = first; chunk < last; ++chunk) {
        while (chunk >= ends[k]) ++k;
        const int64_t begin = (chunk - (k == 0 ? 0 : ends[k - 1])) * kMost;
        const int64_t n = std::min(kMost, a.batch[k] - begin);
        Move<width>(by, n, a.params[k] + begin, a.grads[k] + begin, a.exp_avg[k] + begin,
                    a.exp_avg_sq[k] + begin);
      }
    };
    opcast::ParallelFor(launch, ends.back(), 1, some);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
