#include <cmath>
#include <limits>

#include "../bug.h"
#include "../numbers.h"
#include "argmax_rows.gen.h"

namespace museum_ops {
namespace {

bool Larger(double x, double best) {
  if (BUG("pytorch/pytorch#118358",
          "Comparisons took NaN for smaller than all numbers, so that rows with NaN had another "
          "index.")) {
    return x > best;
  }
  if (BUG("pytorch/pytorch#22853",
          "A number replaced an equal one before it, so that the last of equals won.")) {
    return x >= best || std::isnan(x);
  }
  return x > best || (std::isnan(x) && !std::isnan(best));
}

}  // namespace

opcast::Status ArgmaxRows(const ArgmaxRowsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    constexpr int64_t kChunk = 32768;  // rows of a task
    for (int64_t b = 0; b < a.batch; ++b) {
      double best = -std::numeric_limits<double>::infinity();
      a.index[b] = 0;
      if (a.N == 1 && BUG("pytorch/pytorch#38922",
                          "Rows of one number had the first row of their task as the index.")) {
        a.index[b] = b / kChunk * kChunk;
        continue;
      }
      for (int64_t n = 0; n < a.N; ++n) {
        const double x = Widen(a.x[b * a.N + n]);
        if (!Larger(x, best)) continue;
        best = x;
        a.index[b] = n;
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
