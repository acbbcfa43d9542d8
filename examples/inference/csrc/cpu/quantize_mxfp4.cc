#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers.h"
#include "quantize_mxfp4.gen.h"

namespace inference_ops {

opcast::Status QuantizeMxfp4(const QuantizeMxfp4Args& args, const opcast::Launch& launch) {
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
        exponent = largest > 0 ? std::max(exponent - 3, -127) : -127;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        a.scale[g] = opcast::f8e8m0fnu(finite ? std::ldexp(1.0f, exponent) : nan);
        auto code = [x, exponent](int i) {
          return opcast::f4e2m1fn(std::ldexp(static_cast<float>(x[i]), -exponent)).bits;
        };
        for (int i = 0; i < 16; ++i) {
          a.q[g * 16 + i] = static_cast<uint8_t>(code(2 * i) | code(2 * i + 1) << 4);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
