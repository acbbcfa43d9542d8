// For each array, m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2 and
// p = (1 - lr * weight_decay) * p - lr / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps):
// AdamW as in "Decoupled weight decay regularization" (Loshchilov and Hutter, ICLR 2019), with the
// order of PyTorch's. Computed in double, since what is added up may cancel, and rounded once.
#include <cmath>

#include "adamw.gen.h"
#include "row_sums.h"
#include "rows.h"
#include "walk.h"

namespace opcast_ops {
namespace {

// The numbers of a step that are the same for all elements.
struct Factors {
  double beta1, beta2, eps, kept, rate, correction;

  explicit Factors(const AdamwArgs& args) : beta1(args.beta1), beta2(args.beta2), eps(args.eps) {
    const double lr = *args.lr, step = *args.step;
    kept = 1 - lr * args.weight_decay;
    rate = lr / (1 - std::pow(beta1, step));
    correction = 1 / std::sqrt(1 - std::pow(beta2, step));
  }
};

// One vector's worth of doubles.
template <int kWidth>
inline Doubles<kWidth> HalfOf(const Lanes<kWidth>& lanes, int half) {
  Doubles<kWidth> wide;
  wide.Load(lanes.numbers + half * wide.kCount);
  return wide;
}

template <int kWidth, class T>
inline void Move(const Factors& by, int64_t n, T* params, const T* grads, float* means,
                 float* squares) {
  ForLanes<kWidth>(n, [=](int64_t i, auto count) {
    const auto p = LoadSome<kWidth>(params + i, count), g = LoadSome<kWidth>(grads + i, count),
               m = LoadSome<kWidth>(means + i, count), v = LoadSome<kWidth>(squares + i, count);
    WideLanes<kWidth> moved, mean, square;
    for (int half = 0; half < 2; ++half) {
      const auto grad = HalfOf<kWidth>(g, half).all;
      auto& own_mean = mean.halves[half];
      auto& own_square = square.halves[half];
      own_mean.all = by.beta1 * HalfOf<kWidth>(m, half).all + (1 - by.beta1) * grad;
      own_square.all = by.beta2 * HalfOf<kWidth>(v, half).all + (1 - by.beta2) * grad * grad;
      Doubles<kWidth> root;
      Root(own_square, &root);
      const auto step = by.rate * own_mean.all / (root.all * by.correction + by.eps);
      moved.halves[half].all = by.kept * HalfOf<kWidth>(p, half).all - step;
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
    for (size_t k = 0; k < a.params.size(); ++k) {
      const auto some = [&a, &by, k](int64_t begin, int64_t end, auto width) {
        Move<width>(by, end - begin, a.params[k] + begin, a.grads[k] + begin, a.exp_avg[k] + begin,
                    a.exp_avg_sq[k] + begin);
      };
      opcast::ParallelFor(launch, a.batch[k], kChunk / 4, some);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
