#include "rotary_complex_backward.gen.h"

namespace inference_ops {

opcast::Status RotaryComplexBackward(const RotaryComplexBackwardArgs& args,
                                     const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using C = typename std::decay_t<decltype(a)>::C;
    const int64_t rows = a.H * a.batch, grain = 1 + (1 << 12) / (rows + 1);
    opcast::ParallelFor(launch, a.S * a.D, grain, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {  // a position and a pair
        const C back = opcast::Conj(a.freqs_cis[i]);
        opcast::c128 sum = 0;
        for (int64_t r = 0; r < a.batch * a.H; ++r) {
          const int64_t k = ((r / a.H * a.S + i / a.D) * a.H + r % a.H) * a.D + i % a.D;
          a.grad_x[k] = a.grad_y[k] * back;
          sum += opcast::c128(a.grad_y[k]) * opcast::c128(opcast::Conj(a.x[k]));
        }
        a.grad_freqs_cis[i] = C(sum);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
