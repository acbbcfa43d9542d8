#include "../bug.h"
#include "../numbers.h"
#include "rotate_half.gen.h"

namespace museum_ops {

opcast::Status RotateHalf(const RotateHalfArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t width = 2 * a.R;
    for (int64_t n = 0; n < a.N; ++n) {
      for (int64_t h = 0; h < a.H; ++h) {
        int64_t row = n;
        if (BUG("facebookresearch/xformers#841",
                "Angles were those of the number of the head, not of the position of the token.")) {
          row = h % a.N;
        }
        const auto* const x = a.x + (n * a.H + h) * width;
        const float *cosines = a.cosines + row * width, *sines = a.sines + row * width;
        T* const y = a.y + (n * a.H + h) * width;
        for (int64_t i = 0; i < a.R; ++i) {
          const double p = Widen(x[i]), q = Widen(x[a.R + i]);
          y[i] = Narrow<T>(p * Widen(cosines[i]) - q * Widen(sines[i]));
          y[a.R + i] = Narrow<T>(q * Widen(cosines[a.R + i]) + p * Widen(sines[a.R + i]));
        }
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
