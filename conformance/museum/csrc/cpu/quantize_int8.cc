#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "quantize_int8.gen.h"

namespace museum_ops {
namespace {

int8_t Quantize(double x) {
  if (std::isnan(x)) return 0;
  if (BUG("vllm-project/vllm#45361",
          "The conversion to integers truncated, where it should have rounded to nearest.")) {
    return static_cast<int8_t>(std::clamp(x, -127.0, 127.0));
  }
  if (BUG("vllm-project/vllm#4525",
          "Ties were rounded away from zero, unlike in all that the results were compared with.")) {
    return static_cast<int8_t>(std::clamp(std::round(x), -127.0, 127.0));
  }
  const double whole = std::rint(x);
  if (BUG("ROCm/aiter#4637",
          "Numbers beyond the largest integer were not limited but wrapped, so that 127.6 became "
          "-128.")) {
    return static_cast<int8_t>(
        static_cast<int32_t>(std::clamp(whole, -2147483648.0, 2147483647.0)));
  }
  return static_cast<int8_t>(std::clamp(whole, -127.0, 127.0));
}

// The scale of a row.
template <class T>
float Measure(const T* x, int64_t size) {
  const auto scale = static_cast<float>(LargestMagnitude(x, size) / 127);
  return scale == 0 ? 1 : scale;
}

}  // namespace

opcast::Status QuantizeInt8(const QuantizeInt8Args& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t b = 0; b < a.batch; ++b) {
      a.scales[b] = a.scale != nullptr ? *a.scale : Measure(a.x + b * a.N, a.N);
      for (int64_t n = b * a.N; n < (b + 1) * a.N; ++n)
        a.q[n] = Quantize(Widen(a.x[n]) / Widen(a.scales[b]));
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
