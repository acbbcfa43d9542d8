#include "gemm_mxfp8.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status GemmMxfp8(const GemmMxfp8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    opcast::ParallelFor(launch, a.batch * a.N, 16, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t m = i / a.N, n = i % a.N, groups = a.K / 32;
        double sum = 0;
        for (int64_t g = 0; g < groups; ++g) {
          double product = 0;
          for (int64_t k = 32 * g; k < 32 * (g + 1); ++k) {
            product += Widen(a.a[m * a.K + k]) * Widen(a.b[n * a.K + k]);
          }
          sum += product * Widen(a.a_scale[m * groups + g]) * Widen(a.b_scale[n * groups + g]);
        }
        a.c[i] = Narrow<O>(sum);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
