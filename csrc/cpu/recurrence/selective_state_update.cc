// A step of Mamba's recurrence: state = state * exp(dt * a) + dt * b * x, and y = the sum of
// state * c over a channel's N numbers, + d * x, * silu(z). Computed in double, and rounded once;
// y is made of states that are not rounded.
//
// A channel of a sequence is one piece of work. Where its numbers decay alike, as in Mamba 2, the
// exponential is computed once.
#include "cpu/lib/standard_headers.h"

#include <cmath>

#include "cpu/lib/exp.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/vector_loops.h"
#include "selective_state_update.gen.h"

namespace opcast_ops {
namespace {

// Where an array's element for a head and a channel lies.
struct ByHead {
  int64_t head, channel;

  int64_t At(int64_t h, int64_t p) const { return h * head + p * channel; }
};

// e^x for all x: beyond +-700, products with floats are no floats or 0 all the same, but for those
// of infinities and zeros.
template <int kWidth>
inline double DecayOf(double x) {
  constexpr double kEnd = 700, kLeast = -745.1, kMost = 709.7;
  const double nearby = Select(x < -kEnd, -kEnd, Select(x > kEnd, kEnd, x));
  const double power = Select(x < kLeast, 0.0, Exp<kWidth>(nearby));
  return Select(x > kMost, std::numeric_limits<double>::infinity(), power);
}

// What a channel's numbers have in common.
struct Channel {
  double step, added;  // dt, and dt * x
  const float* a;
  int64_t a_stride;
};

// Updates n numbers of a state, and returns the sum of products with c. Number i goes to lane i %
// kCount.
template <int kWidth, class S, class T>
inline double Update(const Channel& channel, int64_t n, const T* b, const T* c, S* state) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  const double step = channel.step, added = channel.added;
  const bool alike = channel.a_stride == 0;
  const double decay = alike && n > 0 ? DecayOf<kWidth>(step * channel.a[0]) : 0;
  double sums[kCount] = {};
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    const auto old = LoadSome<kWidth>(state + i, count), to = LoadSome<kWidth>(b + i, count),
               from = LoadSome<kWidth>(c + i, count);
    double decays[kCount];
    for (int j = 0; j < kCount; ++j) decays[j] = decay;
    if (!alike) {
      float a[kCount] = {};
      for (int j = 0; j < count; ++j) a[j] = channel.a[(i + j) * channel.a_stride];
      for (int j = 0; j < kCount; ++j) decays[j] = DecayOf<kWidth>(step * a[j]);
    }
    Lanes<kWidth> made;
    double products[kCount];
    for (int j = 0; j < kCount; ++j) {
      const double value = Fma<kWidth>(added, double{to.numbers[j]}, old.numbers[j] * decays[j]);
      made.numbers[j] = static_cast<float>(value);
      products[j] = value * from.numbers[j];
    }
    made.StoreSome(state + i, count);
    for (int j = 0; j < count; ++j) sums[j] += products[j];
  });
  return Tree<kCount>(sums, [](double x, double y) { return x + y; });
}

// A call, with dtypes.
template <class A>
struct Step {
  using S = typename A::S;
  using T = typename A::T;
  const A& a;
  const int64_t heads = a.G * a.K;
  const ByHead of_a{a.a_layout.Stride(-3), a.a_layout.Stride(-2)};

  // An element of an optional array with heads and channels.
  static double Of(const float* array, const opcast::Layout& layout, int64_t h, int64_t p) {
    if (array == nullptr) return 0;
    return double{array[h * layout.Stride(-2) + p * layout.Stride(-1)]};
  }
  // The same of one that also has sequences.
  static double Of(const T* array, const opcast::Layout& layout, int64_t i, int64_t h, int64_t p) {
    const T value = array[i * layout.Stride(-3) + h * layout.Stride(-2) + p * layout.Stride(-1)];
    return double{static_cast<float>(value)};
  }

  double TimeStep(int64_t i, int64_t h, int64_t p) const {
    const double step = Of(a.dt, a.dt_layout, i, h, p) + Of(a.dt_bias, a.dt_bias_layout, h, p);
    if (!a.dt_softplus || step > 40) return step;
    return std::log1p(std::exp(step));
  }

  // The result of a channel of a sequence.
  template <int kWidth>
  double Run(int64_t slot, int64_t i, int64_t h, int64_t p) const {
    const double x = Of(a.x, a.x_layout, i, h, p), step = TimeStep(i, h, p);
    const int64_t group = h / a.K;
    S* const state = a.state + slot * a.state_layout.Stride(-4) + h * a.state_layout.Stride(-3) +
                     p * a.state_layout.Stride(-2);
    const Channel channel{step, step * x, a.a + of_a.At(h, p), a.a_layout.Stride(-1)};
    double y = Update<kWidth>(
        channel, a.N, a.b + i * a.b_layout.Stride(-3) + group * a.b_layout.Stride(-2),
        a.c + i * a.c_layout.Stride(-3) + group * a.c_layout.Stride(-2), state);
    if (a.d != nullptr) y += Of(a.d, a.d_layout, h, p) * x;
    if (a.z == nullptr) return y;
    const double z = Of(a.z, a.z_layout, i, h, p);
    return y * (z / (1 + std::exp(-z)));
  }
};

}  // namespace

opcast::Status SelectiveStateUpdate(const SelectiveStateUpdateArgs& args,
                                    const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    const Step<A> step{a};
    const int64_t of_sequence = step.heads * a.P;
    const auto channels = [&](int64_t begin, int64_t end, auto width) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t i = k / of_sequence, rest = k % of_sequence;
        const int64_t slot = a.state_batch_indices == nullptr ? i : a.state_batch_indices[i];
        const bool skipped = slot < 0 || slot >= a.M;
        a.y[k] =
            skipped
                ? static_cast<typename A::T>(0.0f)
                : Round<typename A::T>(step.template Run<width>(slot, i, rest / a.P, rest % a.P));
      }
    };
    opcast::ParallelFor(launch, a.B * of_sequence, RowsPerChunk(4 * a.N), channels);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
