// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v, where w1 and w2 are numbers of 4 bits times
// the scales of their groups and w1_alpha[e], w2_alpha[e]. See expert_layers.h, and
// scaled_experts.h for the products.
#include "cpu/lib/standard_headers.h"

#include "common/e2m1.h"
#include "cpu/moe/scaled_experts.h"
#include "fused_moe_fp4.gen.h"

namespace opcast_ops {
namespace {

// What each byte stands for: two numbers.
struct PairsOfBytes {
  float at[256][2];

  PairsOfBytes() {
    for (uint32_t byte = 0; byte < 256; ++byte)
      at[byte][0] = E2m1(byte & 15), at[byte][1] = E2m1(byte >> 4);
  }
};

// Dense rows of codes, as a factor that is made.
template <class S>
struct RowsOfCodes {
  const uint8_t* codes;
  int64_t depth;
  BlockScales<S> scales;
  const PairsOfBytes* pairs;
  const float* factors;  // of each matrix of so many lines, or null
  int64_t lines;

  template <int kWidth>
  void Make(int64_t row, int64_t k, int64_t n, float scale, float* to) const {
    const uint8_t* const from = codes + (row * depth + k) / 2;
    if (factors != nullptr) scale *= factors[row / lines];
    for (int64_t j = 0; j < n / 2; ++j) {
      to[2 * j] = pairs->at[from[j]][0] * scale;
      to[2 * j + 1] = pairs->at[from[j]][1] * scale;
    }
  }
};

}  // namespace

opcast::Status FusedMoeFp4(const FusedMoeFp4Args& args, const opcast::Launch& launch) {
  static const PairsOfBytes pairs;
  const Items items{args.topk_ids, args.N * args.k, args.E};
  const PermutedPlaces places{args.row_map, args.offsets};
  FindPlaces(items, args.counts, places);
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    PermuteRows(launch, a.x, a.D, a.k, items, places, a.permuted);
    const ScaledRows<typename Args::T, float> rows{a.permuted, a.D,
                                                   ScalesOf<float>(nullptr, 1, a.D, 1, 1)};
    using Weights = RowsOfCodes<typename Args::S>;
    const auto first = ScalesOf(a.w1_scale, 1, a.D, 1, a.G1);
    const auto second = ScalesOf(a.w2_scale, 1, a.I, 1, a.G2);
    RunExperts(a, rows, Weights{a.w1, a.D, first, &pairs, a.w1_alpha, 2 * a.I},
               Weights{a.w2, a.I, second, &pairs, a.w2_alpha, a.D}, launch);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
