#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "mean_cross_entropy.gen.h"

namespace museum_ops {
namespace {

template <class Typed>
double Count(const Typed& a) {
  constexpr int64_t kDefault = -1;
  if (a.ignore_index == kDefault &&
      BUG("flagos-ai/FlagGems#73",
          "The mean counted ignored rows, unless the index was another than by default.")) {
    return static_cast<double>(a.M);
  }
  const auto count = static_cast<double>(std::count_if(a.target, a.target + a.M, [&a](auto target) {
    return static_cast<int64_t>(target) != a.ignore_index;
  }));
  if (BUG("pytorch/pytorch#75181",
          "The mean over no rows, where all are ignored, was 0 / 0 = NaN."))
    return count;
  return std::max(count, 1.0);
}

// The loss of a row, whose gradient is written.
template <class T>
double Row(const MeanCrossEntropyArgs& a, const T* logits, int64_t target, double count, T* grad) {
  double largest = Widen(logits[0]), sum = 0, all = 0;
  for (int64_t v = 0; v < a.V; ++v) {
    if (!(Widen(logits[v]) <= largest) && !std::isnan(largest)) largest = Widen(logits[v]);
  }
  for (int64_t v = 0; v < a.V; ++v) sum += std::exp(Widen(logits[v]) - largest);
  const auto logp = [&](int64_t v) { return Widen(logits[v]) - largest - std::log(sum); };
  const bool ignored = target == a.ignore_index;
  const bool written = ignored && BUG("PaddlePaddle/Paddle#28622", "Ignored rows had a gradient.");
  for (int64_t v = 0; v < a.V; ++v) {
    all += logp(v);
    const double hit = v == target ? 1 - a.label_smoothing : 0;
    const double slope = std::exp(logp(v)) - hit - a.label_smoothing / static_cast<double>(a.V);
    grad[v] = Narrow<T>(ignored && !written ? 0 / count : slope / count);
  }
  if (ignored) return 0;
  const double loss = (a.label_smoothing - 1) * logp(target),
               spread = a.label_smoothing * all / static_cast<double>(a.V);
  if (BUG("candle-org/MindAct#1633",
          "The term of smoothing was 0 * inf = NaN without smoothing, if a class was masked."))
    return loss - spread;
  return a.label_smoothing > 0 ? loss - spread : loss;
}

}  // namespace

opcast::Status MeanCrossEntropy(const MeanCrossEntropyArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const double count = Count(a);
    double loss = 0;
    for (int64_t m = 0; m < a.M; ++m) {
      loss +=
          Row(a, a.logits + m * a.V, static_cast<int64_t>(a.target[m]), count, a.grad + m * a.V);
    }
    *a.loss = static_cast<float>(loss / count);
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
