#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "decode_pages.gen.h"

namespace museum_ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The head of the keys that a head of the queries meets. Up to 16 heads of a group share a tile.
int64_t GroupOf(const DecodePagesArgs& a, int64_t head) {
  const int64_t group = a.HQ / a.HK;
  if (BUG("FlashML-org/FreeToken#177",
          "Tiles of 16 heads ran on over the end of a group, and the rest of a tile met its keys, "
          "too.")) {
    return std::min(head / std::min<int64_t>(group, 16) / ((group + 15) / 16), a.HK - 1);
  }
  return head / group;
}

// The row of a token's head in a cache.
int64_t RowOf(const DecodePagesArgs& a, int64_t b, int64_t token, int64_t group) {
  return (a.table[b * a.M + token / a.S] * a.S + token % a.S) * a.HK + group;
}

// The token whose value a weight multiplies, or -1 for none.
int64_t ValueOf(const DecodePagesArgs& a, int64_t token) {
  if (a.D > a.E &&
      BUG("ikawrakow/ik_llama.cpp#2031",
          "Keys were walked by blocks as long as their heads, values by those of theirs.")) {
    return token % a.D < a.E ? token / a.D * a.E + token % a.D : -1;
  }
  return token;
}

template <class Typed>
void AddValues(const Typed& a, int64_t b, int64_t group, const std::vector<double>& weights,
               std::vector<double>* sums) {
  auto end = static_cast<int64_t>(weights.size());
  if (BUG("vllm-project/vllm#936",
          "Values of slots behind the last token were multiplied by a weight of 0, which leaves "
          "NaN as it is.")) {
    end = (end + a.S - 1) / std::max<int64_t>(a.S, 1) * a.S;
  }
  for (int64_t token = 0; token < end; ++token) {
    const int64_t from = ValueOf(a, token);
    if (from < 0) continue;
    const double weight = token < static_cast<int64_t>(weights.size()) ? weights[token] : 0;
    const int64_t row = RowOf(a, b, from, group);
    for (int64_t e = 0; e < a.E; ++e) (*sums)[e] += weight * Widen(a.v_cache[row * a.E + e]);
  }
}

template <class Typed>
void Attend(const Typed& a, int64_t b, int64_t h) {
  const int64_t group = GroupOf(a, h);
  std::vector<double> weights(a.lengths[b]), sums(a.E);
  double top = -kInfinity, total = 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    const auto* const key = a.k_cache + RowOf(a, b, static_cast<int64_t>(j), group) * a.D;
    for (int64_t d = 0; d < a.D; ++d)
      weights[j] += Widen(a.q[(b * a.HQ + h) * a.D + d]) * Widen(key[d]);
    weights[j] /= std::sqrt(std::max<double>(static_cast<double>(a.D), 1));
    if (weights[j] > top || std::isnan(weights[j])) top = weights[j];
  }
  const bool empty = top == -kInfinity;
  for (double& w : weights) total += w = empty ? 0 : std::exp(w - top);
  if (!empty) AddValues(a, b, group, weights, &sums);
  for (int64_t e = 0; e < a.E; ++e) {
    a.o[(b * a.HQ + h) * a.E + e] = Narrow<typename Typed::T>(empty ? 0 : sums[e] / total);
  }
  double lse = empty ? -kInfinity : top + std::log(total);
  if (empty && BUG("Dao-AILab/flash-attention#978",
                   "The log-sum-exp of a row without keys was plus infinity, which takes the whole "
                   "merged row.")) {
    lse = kInfinity;
  }
  a.lse[b * a.HQ + h] = static_cast<float>(lse);
}

}  // namespace

opcast::Status DecodePages(const DecodePagesArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t b = 0; b < a.B; ++b) {
      for (int64_t h = 0; h < a.HQ; ++h) Attend(a, b, h);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
