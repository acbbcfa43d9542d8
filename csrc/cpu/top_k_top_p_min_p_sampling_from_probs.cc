// ids[b] = a draw by inverse distribution, in the order of ids, from what three filters leave of
// row b. All filters keep what is at least a number: that of top_k and of top_p is found digit by
// digit, by how many probabilities, or how much of their sum, each next digit has. Sums are double.
#include <cmath>

#include "common/philox.h"
#include "draw.h"
#include "scalar.h"
#include "top_k_top_p_min_p_sampling_from_probs.gen.h"

namespace opcast_ops {
namespace {

constexpr int kDigits[] = {20, 10, 0};  // where digits of the bits of a positive float begin
constexpr uint32_t kMostValues = 1 << 11;

// The bits of a positive float, which have its order; 0 for other numbers.
inline uint32_t OrderOf(float x) { return x > 0 ? opcast::detail::Bits(x) : 0; }

// The largest number of a row, of those from `least` on, such that what is not below it counts
// `goal` or more: each one 1, or as much as it is. The smallest positive one if that is too much.
template <bool kCountOnes>
float Threshold(const float* x, int64_t n, float least, double goal) {
  const uint32_t from = std::max(OrderOf(least), uint32_t{1});
  uint32_t found = 0, known = 31;
  double above = 0;
  for (const int digit : kDigits) {
    double values[kMostValues] = {};
    const uint32_t mask = (uint32_t{1} << (known - digit)) - 1;
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t order = OrderOf(x[i]);
      if (order >= from && order >> known == found) {
        values[order >> digit & mask] += kCountOnes ? 1 : static_cast<double>(x[i]);
      }
    }
    uint32_t lowest = 0;
    for (uint32_t value = mask + 1; value-- > 0;) {
      if (values[value] == 0) continue;
      lowest = value;
      if (above + values[value] >= goal) break;
      above += values[value];
    }
    found = found << (known - digit) | lowest;
    known = digit;
  }
  return opcast::detail::FromBits(found);
}

template <class Typed>
int64_t DrawFromRow(const Typed& a, int64_t row, double uniform) {
  const int64_t n = a.V;
  const float* x = a.probs + row * n;
  float least = 0;
  if (a.top_k != nullptr && a.top_k[row] > 0 && a.top_k[row] < n)
    least = Threshold<true>(x, n, 0, a.top_k[row]);
  if (a.top_p != nullptr && a.top_p[row] < 1) {
    const auto kept = [x, least](int64_t i) { return Select(x[i] >= least, x[i], 0.0f); };
    const double whole = Sum(n, [kept](int64_t i) { return double{kept(i)}; });
    least = Threshold<false>(x, n, least, a.top_p[row] * whole);
  }
  double floor = least;
  if (a.min_p != nullptr) {
    const auto largest = [](float a, float b) { return b > a ? b : a; };
    const float most = Reduce(n, 0.0f, [x](int64_t i) { return x[i]; }, largest);
    const double relative = double{a.min_p[row]} * most;
    floor = relative <= floor ? floor : relative;
  }
  const auto weight = [x, floor](int64_t i) {
    const double own = x[i];
    return Select((own > 0) & (own >= floor), own, 0.0);
  };
  return Draw(n, weight, uniform);
}

}  // namespace

opcast::Status TopKTopPMinPSamplingFromProbs(const TopKTopPMinPSamplingFromProbsArgs& args,
                                             const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const RandomStream stream(a.seed);
    opcast::ParallelFor(launch, a.B, RowsPerChunk(a.V), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        a.ids[row] = static_cast<int32_t>(DrawFromRow(a, row, stream.UniformAt(row)));
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
