#include <algorithm>
#include <cmath>
#include <limits>

#include "decode_run.gen.h"
#include "numbers.h"

namespace inference_ops {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// exp(score - top), also where there is no finite score.
double Weight(double score, double top) { return std::exp(score - (top == kNothing ? 0 : top)); }

// The larger one, or NaN if either is.
double Larger(double a, double b) { return b > a || std::isnan(b) ? b : a; }

// One head of a piece: weighted values, then the largest score and the sum of the weights.
template <class Args>
void Attend(const Args& a, int64_t piece, int64_t h) {
  double* const values = a.parts + (piece * a.H + h) * (a.D + 2);
  std::fill(values, values + a.D, 0.0);
  double top = kNothing, total = 0;
  const auto* const q = a.q + (a.owners[piece] * a.H + h) * a.D;
  for (int64_t n = a.ranges[2 * piece]; n < a.ranges[2 * piece + 1]; ++n) {
    const auto *const k = a.k + (n * a.H + h) * a.D, *const v = a.v + (n * a.H + h) * a.D;
    double score = 0;
    for (int64_t d = 0; d < a.D; ++d) score += Widen(q[d]) * Widen(k[d]);
    score *= a.scale;
    const double before = top;
    top = Larger(top, score);
    const double kept = before == top ? 1 : Weight(before, top), weight = Weight(score, top);
    for (int64_t d = 0; d < a.D; ++d) values[d] = values[d] * kept + weight * Widen(v[d]);
    total = total * kept + weight;
  }
  values[a.D] = top;
  values[a.D + 1] = total;
}

// One head of a sequence, from all pieces of it.
template <class Args>
void Merge(const Args& a, int64_t b, int64_t h) {
  using T = typename std::decay_t<Args>::T;
  const auto part = [&a, h](int64_t p) { return a.parts + (p * a.H + h) * (a.D + 2); };
  double top = kNothing, total = 0;
  for (int64_t p = 0; p < a.pieces + a.B; ++p) {
    if (a.owners[p] == b) top = Larger(top, part(p)[a.D]);
  }
  for (int64_t p = 0; p < a.pieces + a.B; ++p) {
    if (a.owners[p] != b) continue;
    part(p)[a.D] = Weight(part(p)[a.D], top);  // its share from here on
    total += part(p)[a.D] * part(p)[a.D + 1];
  }
  for (int64_t d = 0; d < a.D; ++d) {
    double value = 0;
    for (int64_t p = 0; p < a.pieces + a.B; ++p) {
      if (a.owners[p] == b) value += part(p)[a.D] * part(p)[d];
    }
    a.o[(b * a.H + h) * a.D + d] = Narrow<T>(total == 0 ? 0 : value / total);
  }
  if (a.lse) a.lse[b * a.H + h] = static_cast<float>(top == kNothing ? top : top + std::log(total));
}

}  // namespace

opcast::Status DecodeRun(const DecodeRunArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    opcast::ParallelFor(launch, (a.pieces + a.B) * a.H, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Attend(a, i / a.H, i % a.H);
    });
    opcast::ParallelFor(launch, a.B * a.H, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Merge(a, i / a.H, i % a.H);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
