#include "gemm_nvfp4.gen.h"
#include "nvfp4.h"

namespace inference_ops {

opcast::Status GemmNvfp4(const GemmNvfp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    const Scales scales{a.layout == GemmNvfp4Layout::kSwizzled, a.G};
    opcast::ParallelFor(launch, a.M * a.N, 16, [&a, scales](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t m = i / a.N, n = i % a.N;
        double sum = 0;
        for (int64_t g = 0; g < a.G; ++g) {
          double product = 0;
          for (int64_t k = 16 * g; k < 16 * (g + 1); ++k) {
            product += Packed(a.a, 16 * m * a.G + k) * Packed(a.b, 16 * n * a.G + k);
          }
          sum += product * Widen(a.a_scale[scales.At(m, g)]) * Widen(a.b_scale[scales.At(n, g)]);
        }
        a.c[i] = Narrow<O>(sum * *a.alpha);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
