#include <utility>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "rotate_half_backward.gen.h"

namespace museum_ops {

opcast::Status RotateHalfBackward(const RotateHalfBackwardArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t width = 2 * a.R;
    for (int64_t n = 0; n < a.N; ++n) {
      const float *cosines = a.cosines + n * width, *first = a.sines + n * width,
                  *second = first + a.R;
      if (BUG("PaddlePaddle/Paddle#74716",
              "A gradient took the sine of its own half, not that of the half from which it "
              "comes.")) {
        std::swap(first, second);
      }
      std::vector<double> grad_cosines(width), grad_sines(width);
      for (int64_t row = n * a.H; row < (n + 1) * a.H; ++row) {
        const T *const grad_y = a.grad_y + row * width, *const x = a.x + row * width;
        for (int64_t i = 0; i < a.R; ++i) {
          const double p = Widen(grad_y[i]), q = Widen(grad_y[a.R + i]);
          a.grad_x[row * width + i] = Narrow<T>(p * Widen(cosines[i]) + q * Widen(second[i]));
          a.grad_x[row * width + a.R + i] =
              Narrow<T>(q * Widen(cosines[a.R + i]) - p * Widen(first[i]));
          grad_cosines[i] += p * Widen(x[i]);
          grad_cosines[a.R + i] += q * Widen(x[a.R + i]);
          grad_sines[i] -= p * Widen(x[a.R + i]);
          grad_sines[a.R + i] += q * Widen(x[i]);
        }
      }
      for (int64_t i = 0; i < width; ++i) {
        a.grad_cosines[n * width + i] = static_cast<float>(grad_cosines[i]);
        a.grad_sines[n * width + i] = static_cast<float>(grad_sines[i]);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
