#include "rotary_complex.gen.h"

namespace inference_ops {

opcast::Status RotaryComplex(const RotaryComplexArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t grain = 1 + (1 << 13) / (a.H * a.D + 1);  // positions that are worth a thread
    opcast::ParallelFor(launch, a.batch * a.S, grain, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto* turn = a.freqs_cis + i % a.S * a.D;
        for (int64_t k = i * a.H * a.D; k < (i + 1) * a.H * a.D; ++k)
          a.y[k] = a.x[k] * turn[k % a.D];
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
