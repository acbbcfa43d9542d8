#include <algorithm>
#include <array>

#include "../bug.h"
#include "../numbers.h"
#include "causal_conv.gen.h"

namespace museum_ops {
namespace {

constexpr int64_t kChunk = 64;

// Where step t of a sequence lies in x.
template <class Typed>
int64_t Offset(const Typed& a, int64_t b, int64_t t) {
  const int64_t offset = b * a.x_layout.Stride(-3) + t * a.x_layout.Stride(-2);
  if (offset >= 0 && BUG("Dao-AILab/causal-conv1d#114",
                         "Offsets were computed in 32 bits without a sign, which wrap around in "
                         "long sequences.")) {
    return static_cast<uint32_t>(offset);
  }
  return offset;
}

// The steps from begin on, one chunk of them.
template <class Typed>
void Convolve(const Typed& a, int64_t b, int64_t begin) {
  using T = typename Typed::T;
  const int64_t across =
      BUG("fla-org/flash-linear-attention#1138",
          "The stride of the last dimension was taken for 1, which it is not in an expanded array.")
          ? 1
          : a.x_layout.Stride(-1);
  const int64_t skipped = BUG("sgl-project/sglang#38622",
                              "Of a state that is longer than the filter, the first steps were "
                              "used instead of the last.")
                              ? 0
                              : a.P - a.W + 1;
  std::array<int32_t, kChunk> ids{};
  const bool all = BUG("Dao-AILab/causal-conv1d#101",
                       "The last chunk read the sequence numbers of steps behind the end.");
  for (int64_t i = 0; i < kChunk && a.segments != nullptr; ++i) {
    if (all || begin + i < a.L) ids[static_cast<size_t>(i)] = a.segments[b * a.L + begin + i];
  }
  for (int64_t t = begin; t < std::min(begin + kChunk, a.L); ++t) {
    for (int64_t d = 0; d < a.D; ++d) {
      double sum = 0;
      for (int64_t i = 0; i < a.W; ++i) {
        const int64_t from = t - a.W + 1 + i;
        if (a.segments != nullptr &&
            a.segments[b * a.L + std::max(from, int64_t{0})] != ids[static_cast<size_t>(t - begin)])
          continue;
        const T* step = from < 0 ? a.state + (b * a.P + skipped + from + a.W - 1) * a.D + d
                                 : a.x + Offset(a, b, from) + d * across;
        sum += Widen(*step) * Widen(a.weight[d * a.W + i]);
      }
      a.y[(b * a.L + t) * a.D + d] = Narrow<T>(sum);
    }
  }
}

}  // namespace

opcast::Status CausalConv(const CausalConvArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t b = 0; b < a.B; ++b) {
      for (int64_t begin = 0; begin < a.L; begin += kChunk) Convolve(a, b, begin);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
