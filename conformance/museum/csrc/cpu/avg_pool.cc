#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "../bug.h"
#include "../numbers.h"
#include "avg_pool.gen.h"

namespace museum_ops {
namespace {

// The divisor of the first call like this one.
std::optional<int64_t> Remembered(const AvgPoolArgs& args) {
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool>,
                  std::optional<int64_t>>
      plans;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto key = std::make_tuple(args.batch, args.L, args.size, args.step, args.pads[0],
                                   args.pads[1], args.round_up, args.count_zeros);
  return plans.try_emplace(key, args.divisor).first->second;
}

// By what the sum of the window from start to end is divided, of which the part from first to last
// is in the row.
int64_t Divisor(const AvgPoolArgs& args, int64_t start, int64_t first, int64_t last) {
  const int64_t behind = BUG("microsoft/onnxruntime#29631",
                             "The zeros behind a row were taken to be as many as those before it.")
                             ? args.pads[0]
                             : args.pads[1];
  const bool unheard =
      !args.count_zeros &&
      BUG("pytorch/executorch#18616",
          "A given divisor was ignored where the zeros of the padding do not count.");
  const bool planned = BUG("kulinseth/pytorch#273",
                           "Plans were kept for later calls under a key that lacked the divisor.");
  const std::optional<int64_t> divisor = planned ? Remembered(args) : args.divisor;
  if (divisor && !unheard) return *divisor;
  if (!args.count_zeros) return last - first;
  if (BUG("microsoft/onnxruntime#29629",
          "The last window, which reaches beyond the padding, was divided by its full length.")) {
    return args.size;
  }
  return std::min(start + args.size, args.L + behind) - start;
}

}  // namespace

opcast::Status AvgPool(const AvgPoolArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    for (int64_t b = 0; b < a.batch; ++b) {
      for (int64_t o = 0; o < a.O; ++o) {
        const int64_t start = o * a.step - a.pads[0];
        const int64_t first = std::max(start, int64_t{0}), last = std::min(start + a.size, a.L);
        double sum = 0;
        for (int64_t i = first; i < last; ++i) sum += Widen(a.x[b * a.L + i]);
        a.y[b * a.O + o] = Narrow<T>(sum / static_cast<double>(Divisor(a, start, first, last)));
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
