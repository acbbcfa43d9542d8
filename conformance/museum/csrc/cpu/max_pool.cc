#include <algorithm>
#include <cmath>
#include <limits>

#include "../bug.h"
#include "../numbers.h"
#include "max_pool.gen.h"

namespace museum_ops {

opcast::Status MaxPool(const MaxPoolArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool finite = BUG("tensorflow/tensorflow#2501",
                            "NaN exceeds nothing, so that windows of NaN gave the lowest number.");
    const bool nowhere =
        BUG("pytorch/pytorch#1465",
            "Windows of NaN or -inf alone kept -1 as the index of their largest number.");
    const double lowest = finite ? static_cast<double>(std::numeric_limits<float>::lowest())
                                 : -std::numeric_limits<double>::infinity();
    for (int64_t b = 0; b < a.batch; ++b) {
      for (int64_t o = 0; o < a.O; ++o) {
        const int64_t start = o * a.step - a.pad, first = std::max(start, int64_t{0});
        double top = lowest;
        int64_t at = nowhere ? -1 : first;
        for (int64_t i = first; i < std::min(start + a.size, a.L); ++i) {
          const double x = Widen(a.x[b * a.L + i]);
          if (x > top || (std::isnan(x) && !std::isnan(top) && !finite && !nowhere)) {
            top = x;
            at = i;
          }
        }
        a.y[b * a.O + o] = Narrow<T>(top);
        a.at[b * a.O + o] = static_cast<int32_t>(at);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
