#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "quantize_fp8.gen.h"

namespace museum_ops {
namespace {

constexpr double kMost = 448;

// The scale of a group.
template <class T>
float Measure(const T* x, int64_t size) {
  const auto scale = static_cast<float>(LargestMagnitude(x, size) / kMost);
  if (BUG("huggingface/kernels-community#681",
          "Groups of zeros had the scale 0, and 0 / 0 gave NaN."))
    return scale;
  return scale == 0 ? 1 : scale;
}

double Scaled(double x, float scale, bool given) {
  double scaled = x / static_cast<double>(scale);
  if (BUG("ggml-org/llama.cpp#7313",
          "The inverse of the scale of a group of very small numbers overflowed, and zeros became "
          "NaN.")) {
    scaled = x * static_cast<double>(1 / scale);
  }
  if (given && BUG("vllm-project/vllm#4570",
                   "Numbers beyond 448 scales, which a scale from calibration does not exclude, "
                   "became NaN.")) {
    return scaled;
  }
  return std::isnan(scaled) ? scaled : std::clamp(scaled, -kMost, kMost);
}

}  // namespace

opcast::Status QuantizeFp8(const QuantizeFp8Args& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const bool given = a.scale != nullptr;
    for (int64_t group = 0; group < a.batch * (a.N / a.group_size); ++group) {
      const int64_t begin = group * a.group_size;
      a.scales[group] = given ? *a.scale : Measure(a.x + begin, a.group_size);
      for (int64_t n = begin; n < begin + a.group_size; ++n) {
        a.q[n] = Narrow<opcast::f8e4m3fn>(Scaled(Widen(a.x[n]), a.scales[group], given));
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
