#include "dequantize_nvfp4.gen.h"
#include "nvfp4.h"

namespace inference_ops {

opcast::Status DequantizeNvfp4(const DequantizeNvfp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    const Scales scales{a.layout == DequantizeNvfp4Layout::kSwizzled, a.G};
    opcast::ParallelFor(launch, a.M * a.G, 16, [&a, scales](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const double scale = Widen(a.scale[scales.At(g / a.G, g % a.G)]);
        for (int64_t i = 16 * g; i < 16 * (g + 1); ++i) {
          a.x[i] = Narrow<O>(Packed(a.q, i) * scale / *a.global_scale);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
