#include "dequantize_mxfp8.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status DequantizeMxfp8(const DequantizeMxfp8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    opcast::ParallelFor(launch, a.batch * a.G, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const double scale = Widen(a.scale[g]);
        for (int64_t i = 32 * g; i < 32 * (g + 1); ++i) a.x[i] = Narrow<O>(Widen(a.q[i]) * scale);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
