#include <algorithm>
#include <cmath>
#include <limits>

#include "../bug.h"
#include "../numbers.h"
#include "alibi_scores.gen.h"

namespace museum_ops {
namespace {

double Slope(int64_t head, int64_t heads) {
  int64_t whole = 1;
  while (whole * 2 <= heads) whole *= 2;
  if (BUG("ml-explore/mlx#3071",
          "Slopes fell evenly also where the number of heads is no power of two."))
    whole = heads;
  if (head < whole)
    return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(whole));
  return std::exp2(-4.0 * static_cast<double>(2 * (head - whole) + 1) / static_cast<double>(whole));
}

// Biases a row of a query.
template <class Typed>
void Bias(const Typed& a, int64_t row) {
  using T = typename Typed::T;
  const double slope = Slope(row / a.Q, a.H);
  for (int64_t k = 0; k < a.K; ++k) {
    const int64_t distance = a.past + row % a.Q - k;
    const double biased = Widen(a.scores[row * a.K + k]) - slope * static_cast<double>(distance);
    a.biased[row * a.K + k] =
        distance < 0 ? Narrow<T>(-std::numeric_limits<double>::infinity()) : Narrow<T>(biased);
  }
}

}  // namespace

opcast::Status AlibiScores(const AlibiScoresArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, a.H * a.Q, 32, [&a](int64_t begin, int64_t end) {
      if (BUG("ggml-org/llama.cpp#1454",
              "Each thread copied all scores to the result first, and a late one undid what others "
              "had done.")) {
        std::copy_n(a.scores, a.H * a.Q * a.K, a.biased);
      }
      for (int64_t row = begin; row < end; ++row) Bias(a, row);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
