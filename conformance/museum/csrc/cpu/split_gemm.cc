#include <algorithm>

#include "../bug.h"
#include "../numbers.h"
#include "split_gemm.gen.h"

namespace museum_ops {
namespace {

constexpr int64_t kSplits = 4;
constexpr int64_t kTile = 16;  // of rows, and of the inner dimension

// The product of a row of a and a column of b from begin to end.
template <class Typed>
double Dot(const Typed& a, int64_t m, int64_t n, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t k = begin; k < end; ++k) sum += Widen(a.a[m * a.K + k]) * Widen(a.b[k * a.N + n]);
  return sum;
}

}  // namespace

opcast::Status SplitGemm(const SplitGemmArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const bool one = a.M >= kTile && BUG("vllm-project/vllm#36488",
                                         "The inner dimension was split in small batches only, so "
                                         "that the bits of a row depended on others.");
    const int64_t splits = one ? 1 : kSplits;
    const int64_t size = ((a.K + kTile - 1) / kTile + splits - 1) / splits * kTile;
    const int64_t region =
        (BUG("facebookexperimental/triton#3401",
             "The workspace of a split had room for the rows, but whole tiles were stored.")
             ? a.M
             : a.P) *
        a.N;
    const bool alike =
        BUG("ROCm/composable_kernel#3387",
            "All splits but the last did the same work, also those for which none was left.");
    // On a GPU, splits run in any order.
    for (int64_t s = splits - 1; s >= 0; --s) {
      const int64_t begin = s * size,
                    end = alike && s < splits - 1 ? begin + size : std::min(begin + size, a.K);
      for (int64_t m = 0; m < a.P; ++m) {
        for (int64_t n = 0; n < a.N; ++n) {
          a.parts[s * region + m * a.N + n] =
              m < a.M ? static_cast<float>(Dot(a, m, n, begin, end)) : 0;
        }
      }
    }
    for (int64_t i = 0; i < a.M * a.N; ++i) {
      double sum = 0;
      for (int64_t s = 0; s < splits; ++s) sum += static_cast<double>(a.parts[s * region + i]);
      a.c[i] = Narrow<typename std::decay_t<decltype(a)>::T>(sum);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
