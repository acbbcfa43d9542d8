#include <algorithm>
#include <cmath>

#include "numbers.h"
#include "quantize_int4.gen.h"

namespace inference_ops {

opcast::Status QuantizeInt4(const QuantizeInt4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t groups = a.batch * a.N / a.group_size;
    opcast::ParallelFor(launch, groups, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const auto* x = a.x + g * a.group_size;
        double largest = 0;
        bool nan = false;
        for (int64_t i = 0; i < a.group_size; ++i) {
          nan = nan || std::isnan(Widen(x[i]));
          largest = std::max(largest, std::fabs(Widen(x[i])));
        }
        const auto scale = static_cast<float>(nan ? NAN : largest / 7);
        a.scale[g] = scale == 0 ? 1 : scale;
        const int64_t bytes = a.group_size / 2;
        Pack(a.q + g * bytes, bytes, [x, divisor = Widen(a.scale[g])](int64_t i) {
          const double v = std::rint(Widen(x[i]) / divisor);
          return std::isnan(v) ? 0 : static_cast<int>(std::clamp(v, -7.0, 7.0)) & 15;
        });
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
