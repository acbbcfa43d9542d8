#include <algorithm>
#include <cmath>

#include "numbers.h"
#include "quantize_mxfp8.gen.h"

namespace inference_ops {

opcast::Status QuantizeMxfp8(const QuantizeMxfp8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.batch * a.N / 32, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const auto* x = a.x + g * 32;
        float largest = 0;
        bool finite = true;
        for (int i = 0; i < 32; ++i) {
          const auto v = static_cast<float>(x[i]);
          finite = finite && std::isfinite(v);
          largest = std::max(largest, std::fabs(v));
        }
        int exponent = 0;
        std::frexp(largest, &exponent);
        exponent = largest > 0 ? std::max(exponent - 9, -127) : -127;
        a.scale[g] = opcast::f8e8m0fnu(finite ? std::ldexp(1.0f, exponent) : NAN);
        for (int i = 0; i < 32; ++i) {
          const float v = std::ldexp(static_cast<float>(x[i]), -exponent);
          a.q[g * 32 + i] = opcast::f8e4m3fn(finite ? std::clamp(v, -448.0f, 448.0f) : NAN);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
