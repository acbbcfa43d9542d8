#include "numbers.h"
#include "rotary.gen.h"

namespace inference_ops {
namespace {

// Turns the heads of one token: cosines and sines are those of its position.
template <class T>
void Turn(T* heads, int64_t count, const float* cos_sin, int64_t half) {
  for (int64_t h = 0; h < count; ++h, heads += 2 * half) {
    for (int64_t r = 0; r < half; ++r) {
      const double x = Widen(heads[r]), y = Widen(heads[half + r]);
      const double c = Widen(cos_sin[r]), s = Widen(cos_sin[half + r]);
      heads[r] = Narrow<T>(x * c - y * s);
      heads[half + r] = Narrow<T>(y * c + x * s);
    }
  }
}

}  // namespace

opcast::Status Rotary(const RotaryArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.N, 16, [&a](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const float* cos_sin = a.cos_sin + static_cast<int64_t>(a.positions[n]) * 2 * a.R;
        Turn(a.q + n * a.HQ * 2 * a.R, a.HQ, cos_sin, a.R);
        Turn(a.k + n * a.HK * 2 * a.R, a.HK, cos_sin, a.R);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
