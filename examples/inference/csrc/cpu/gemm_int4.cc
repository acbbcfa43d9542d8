#include "gemm_int4.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status GemmInt4(const GemmInt4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.batch * a.N, 16, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t m = i / a.N, n = i % a.N;
        double sum = 0;
        for (int64_t k = 0; k < a.K; ++k) {
          const float scale = a.b_scale[(n * a.K + k) / a.group_size];
          sum += Widen(a.a[m * a.K + k]) * PackedInteger(a.b, n * a.K + k) * scale;
        }
        a.c[i] = Narrow<T>(sum);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
