#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../bug.h"
#include "nucleus_token.gen.h"

namespace museum_ops {
namespace {

// The weights of the nucleus: those of the other ids are 0.
std::vector<double> Nucleus(const float* probs, int64_t size, double p) {
  std::vector<double> row(static_cast<size_t>(size)), sums(row.size()), kept(row.size());
  std::transform(probs, probs + size, row.begin(),
                 [](float x) { return x > 0 ? static_cast<double>(x) : 0; });
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return row[i] > row[j]; });
  double sum = 0;
  for (size_t i = 0; i < order.size(); ++i) sums[i] = sum += row[order[i]];
  size_t count = 0;
  if (BUG("BlinkDL/ChatRWKV#170",
          "The nucleus ended with the first sum above p, or with the first id if there was none, "
          "as for a p of 1.")) {
    while (count < sums.size() && !(sums[count] > p * sum)) ++count;
    if (count == sums.size()) count = 0;
  } else {
    while (count < sums.size() && sums[count] < p * sum) ++count;
  }
  for (size_t i = 0; i <= count && i < order.size(); ++i) kept[order[i]] = row[order[i]];
  if (BUG("ml-explore/mlx-lm#1912",
          "Where 1 - p rounds to 1, no id was kept, and one was drawn from all as if they were "
          "alike.")) {
    if (sum > 0 && 1 - static_cast<float>(p) >= 1) std::fill(kept.begin(), kept.end(), 1);
  }
  return kept;
}

}  // namespace

opcast::Status NucleusToken(const NucleusTokenArgs& args, const opcast::Launch&) {
  for (int64_t b = 0; b < args.B; ++b) {
    if (reinterpret_cast<uintptr_t>(args.probs + b * args.V) % 16 != 0 &&
        BUG("lightseekorg/tokenspeed#683",
            "Rows were read in vectors of four, although rows and views of arrays may begin "
            "anywhere.")) {
      return opcast::Status::Error("misaligned address");
    }
    const std::vector<double> kept =
        Nucleus(args.probs + b * args.V, args.V, static_cast<double>(args.top_p[b]));
    if (!BUG("flashinfer-ai/flashinfer#2455",
             "The last id was not initialised, and stayed undefined in rows of NaN."))
      args.last[b] = -1;
    const double total = std::accumulate(kept.begin(), kept.end(), 0.0),
                 limit = static_cast<double>(args.coin[b]) * total;
    const bool inclusive =
        total > 0 &&
        BUG("sgl-project/sglang#35771",
            "A coin of 0 accepted an id of probability 0, since the comparison was not strict.");
    double sum = 0;
    int32_t found = -1;
    for (size_t v = 0; v < kept.size() && found < 0; ++v) {
      sum += kept[v];
      if (kept[v] > 0) args.last[b] = static_cast<int32_t>(v);
      if (sum > limit || (inclusive && sum >= limit)) found = static_cast<int32_t>(v);
    }
    args.ids[b] = found < 0 ? args.last[b] : found;
  }
  return opcast::Status::Ok();
}

}  // namespace museum_ops
