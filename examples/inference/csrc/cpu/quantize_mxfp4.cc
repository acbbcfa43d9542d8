#include "mx.h"
#include "quantize_mxfp4.gen.h"

namespace inference_ops {

opcast::Status QuantizeMxfp4(const QuantizeMxfp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.batch * a.N / 32, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const auto* x = a.x + g * 32;
        Pack(a.q + g * 16, 16, [x, exponent = ShareScale(x, 2, a.scale + g)](int64_t i) {
          return opcast::f4e2m1fn(std::ldexp(static_cast<float>(x[i]), -exponent)).bits;
        });
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
