#include <algorithm>
#include <cmath>
#include <limits>

#include "../bug.h"
#include "../numbers.h"
#include "merge_into.gen.h"

namespace museum_ops {
namespace {

constexpr double kEmpty = -std::numeric_limits<double>::infinity();

// The shares of two parts in their merged rows, and the log-sum-exp of these.
struct Merged {
  double share, rest, lse;

  Merged(double x, double y) {
    const double top = std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
    double floor = top == kEmpty ? 0 : top;
    if (BUG("vllm-project/vllm#39148",
            "Where both parts were empty, minus infinity was taken from itself, and rows became "
            "NaN.")) {
      floor = top;
    }
    const bool two =
        BUG("vllm-project/vllm#47079",
            "Natural log-sum-exps were taken for those of base 2, so parts got wrong shares.");
    const double a = two ? std::exp2(x - floor) : std::exp(x - floor);
    const double b = two ? std::exp2(y - floor) : std::exp(y - floor);
    share = a + b == 0 ? 0 : a / (a + b);
    rest = a + b == 0 ? 0 : b / (a + b);
    lse = std::isinf(top) ? top : top + (two ? std::log2(a + b) : std::log(a + b));
  }
};

}  // namespace

// Blocks of threads, of which each merges 16 bytes of a row, follow each other.
opcast::Status MergeInto(const MergeIntoArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kPack = 16 / sizeof(T);
    const int64_t row_threads = std::max<int64_t>((a.D + kPack - 1) / kPack, 1),
                  threads = a.N * a.H * row_threads;
    int64_t block = std::max<int64_t>(128 / row_threads, 1) * row_threads;
    if (BUG("local-inference-lab/vllm#468",
            "A block could end within a row, so the next one read the log-sum-exp that this one "
            "had overwritten.")) {
      block = 128;
    }
    for (int64_t first = 0; first < threads; first += block) {
      const int64_t end = std::min(first + block, threads);
      for (int64_t t = first; t < end; ++t) {
        const int64_t row = t / row_threads, begin = t % row_threads * kPack;
        const Merged m(Widen(a.lse[row]), Widen(a.part_lse[row]));
        for (int64_t d = row * a.D + begin; d < row * a.D + std::min(begin + kPack, a.D); ++d) {
          a.o[d] = Narrow<T>(Widen(a.o[d]) * m.share + Widen(a.part[d]) * m.rest);
        }
      }
      for (int64_t t = first; t < end; ++t) {
        const int64_t row = t / row_threads;
        if (t % row_threads == 0)
          a.lse[row] = static_cast<float>(Merged(Widen(a.lse[row]), Widen(a.part_lse[row])).lse);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
