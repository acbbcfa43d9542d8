#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "group_norm.gen.h"

namespace museum_ops {
namespace {

struct Moments {
  double mean, variance;
};

// The moments of rows of channels, as if there were `count` numbers.
template <class T>
Moments Measure(const T* x, int64_t size, double count) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < size; ++i) sum += Widen(x[i]);
  const double mean = sum / count;
  for (int64_t i = 0; i < size; ++i) squares += (Widen(x[i]) - mean) * (Widen(x[i]) - mean);
  return {mean, squares / count};
}

}  // namespace

opcast::Status GroupNorm(const GroupNormArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t size = a.C / a.groups;
    int64_t block = size;
    if (BUG("flagos-ai/FlagGems#4984",
            "Blocks of a power of two of channels reached into the next group.")) {
      for (block = 1; block < size;) block *= 2;
    }
    auto padded = static_cast<double>(a.S);
    if (BUG("tenstorrent/tt-metal#50682",
            "Moments were over whole tiles of 32 numbers, with their padding."))
      padded = std::ceil(padded / 32) * 32;
    for (int64_t b = 0; b < a.B; ++b) {
      for (int64_t g = 0; g < a.groups; ++g) {
        const int64_t first = g * size;
        const T* x = a.x + (b * a.C + first) * a.S;
        const Moments moments =
            Measure(x, std::min(block, a.C - first) * a.S, static_cast<double>(size) * padded);
        const double scale = 1 / std::sqrt(moments.variance + a.eps);
        for (int64_t c = first; c < first + size; ++c) {
          const int64_t at = BUG("apache/mxnet#17139",
                                 "Weight and bias were those of the group, not of the channel.")
                                 ? g
                                 : c;
          for (int64_t s = 0; s < a.S; ++s) {
            const double normal = (Widen(x[(c - first) * a.S + s]) - moments.mean) * scale;
            a.y[(b * a.C + c) * a.S + s] =
                Narrow<T>(normal * Widen(a.weight[at]) + Widen(a.bias[at]));
          }
        }
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
