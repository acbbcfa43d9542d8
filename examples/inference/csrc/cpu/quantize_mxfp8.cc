#include "mx.h"
#include "quantize_mxfp8.gen.h"

namespace inference_ops {

opcast::Status QuantizeMxfp8(const QuantizeMxfp8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.batch * a.N / 32, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int exponent = ShareScale(a.x + g * 32, 8, a.scale + g);
        const bool finite = !std::isnan(static_cast<float>(a.scale[g]));
        for (int64_t i = 32 * g; i < 32 * (g + 1); ++i) {
          const float v = std::ldexp(static_cast<float>(a.x[i]), -exponent);
          a.q[i] = opcast::f8e4m3fn(finite ? std::clamp(v, -448.0f, 448.0f) : NAN);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
