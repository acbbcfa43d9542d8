#include <cmath>

#include "numbers.h"
#include "scale_all.gen.h"

namespace inference_ops {

opcast::Status ScaleAll(const ScaleAllArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    for (size_t i = 0; i < a.xs.size(); ++i) {
      double largest = 0;
      for (int64_t k = 0; k < a.n[i]; ++k) {
        const double y = Widen(a.xs[i][k]) * static_cast<double>(*a.scale);
        a.ys[i][k] = Narrow<T>(y);
        // What is no number stays the largest.
        if (!(std::fabs(y) <= largest) && !std::isnan(largest)) largest = std::fabs(y);
      }
      a.largest[i] = static_cast<float>(largest);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
