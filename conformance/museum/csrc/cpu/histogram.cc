#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "histogram.gen.h"

namespace museum_ops {
namespace {

bool Outside(double x, double width) {
  if (BUG("pytorch/pytorch#85853",
          "NaN passed both comparisons with the ends, and was counted in the first bin."))
    return x < 0 || x > width;
  return !(x >= 0 && x <= width);
}

// The bin of a number that is x right of the left end.
int64_t Bin(double x, double width, int64_t bins) {
  const auto count = static_cast<double>(bins);
  if (BUG("flagos-ai/FlagGems#3051",
          "Numbers were divided by the width of a bin in float32, and 4.9999 became bin 4 instead "
          "of 5.")) {
    return std::min(static_cast<int64_t>(static_cast<float>(x) / static_cast<float>(width / count)),
                    bins - 1);
  }
  const auto bin = std::isnan(x) ? 0 : static_cast<int64_t>(x * count / width);
  if (BUG("francois-rozet/torchist#4", "A number on the right end got a bin behind the last one."))
    return bin;
  return std::min(bin, bins - 1);
}

}  // namespace

opcast::Status Histogram(const HistogramArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    std::fill_n(a.counts, a.bins, 0);
    for (int64_t i = 0; i < a.batch; ++i) {
      const double x = Widen(a.x[i]) - a.low;
      if (!Outside(x, a.width)) ++a.counts[Bin(x, a.width, a.bins)];
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
