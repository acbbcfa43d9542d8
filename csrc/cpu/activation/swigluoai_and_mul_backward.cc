// The gradients of y[i, j] = (value + 1) * gate * sigmoid(alpha * gate) (see swigluoai_and_mul.cc):
// grad_x[i, 2j] = grad_y[i, j] * (value + 1) * slope(gate) and grad_x[i, 2j + 1] = grad_y[i, j] *
// gate * sigmoid(alpha * gate), but 0 for what is beyond the limit, as autograd has it for clamp.
// Dense rows.
//
// Computed in double, since the slope has a zero, which is at no float in particular for any alpha;
// rounded once.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gate_rows_backward.h"
#include "cpu/activation/interleaved_pairs.h"
#include "cpu/lib/sigmoid_gates.h"
#include "swigluoai_and_mul_backward.gen.h"

namespace opcast_ops {
namespace {

struct SwigluoaiGradients {
  double limit, alpha;

  template <int kWidth>
  GateGradients Wide(double grad, double gate, double value) const {
    const double g = Select(gate > limit, limit, gate);
    const double below = Select(value > limit, limit, value);
    const double v = Select(below < -limit, -limit, below);
    const double sigmoid = Sigmoid<kWidth>(alpha * g);
    const double to_gate = grad * (v + 1) * SiluSlope(alpha * g, sigmoid);
    const bool beyond = (value > limit) | (value < -limit);
    return {static_cast<float>(Select(gate > limit, 0.0, to_gate)),
            static_cast<float>(Select(beyond, 0.0, grad * (g * sigmoid)))};
  }
};

}  // namespace

opcast::Status SwigluoaiAndMulBackward(const SwigluoaiAndMulBackwardArgs& args,
                                       const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SwigluoaiGradients form{a.limit, a.alpha};
    const auto rows = [&a, form](int64_t begin, int64_t end, auto width) {
      // Rows lie one after the other, so that their pairs are those of one row.
      const T *x = a.x + begin * 2 * a.D, *grad = a.grad_y + begin * a.D;
      T* to = a.grad_x + begin * 2 * a.D;
      ForPairs((end - begin) * a.D, [=](int64_t i, int64_t count) {
        T halves[2 * kPairs], made[2 * kPairs];
        PartNeighbours(x + 2 * i, count, halves);
        GateRowInDouble<width>(form, grad + i, halves, count, made);
        JoinNeighbours(made, count, to + 2 * i);
      });
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * a.D), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
