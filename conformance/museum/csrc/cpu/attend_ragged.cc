#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "attend_ragged.gen.h"

namespace museum_ops {
namespace {

constexpr double kEmpty = -std::numeric_limits<double>::infinity();

// The attention of a query over some keys, and the log-sum-exp of its scores.
template <class Typed>
double Attend(const Typed& a, int64_t i, int64_t h, int64_t begin, int64_t end,
              std::vector<double>* sums) {
  std::vector<double> scores;
  double top = kEmpty, total = 0;
  for (int64_t j = begin; j < end; ++j) {
    double s = 0;
    for (int64_t d = 0; d < a.D; ++d)
      s += Widen(a.q[(i * a.H + h) * a.D + d]) * Widen(a.k[(j * a.H + h) * a.D + d]);
    scores.push_back(s / std::sqrt(std::max<double>(static_cast<double>(a.D), 1)));
    if (scores.back() > top || std::isnan(scores.back())) top = scores.back();
  }
  std::fill(sums->begin(), sums->end(), 0);
  if (top == kEmpty) return kEmpty;
  for (int64_t j = begin; j < end; ++j) {
    const double weight = std::exp(scores[j - begin] - top);
    for (int64_t d = 0; d < a.D; ++d) (*sums)[d] += weight * Widen(a.v[(j * a.H + h) * a.D + d]);
    total += weight;
  }
  for (double& sum : *sums) sum /= total;
  return top + std::log(total);
}

template <class Typed>
void Sequence(const Typed& a, int64_t b) {
  using T = typename Typed::T;
  std::vector<double> sums(a.D);
  const int64_t queries = a.cu_q[b + 1] - a.cu_q[b], begin = a.cu_k[b], end = a.cu_k[b + 1];
  if (begin == end && BUG("ROCm/aiter#1442",
                          "Nothing was written for the queries of a sequence without keys, so they "
                          "kept what was there.")) {
    return;
  }
  int64_t first = a.cu_q[b];
  if (BUG("flashinfer-ai/flashinfer#3800",
          "Queries were read as if each sequence had one, so only the first sequence got its "
          "own.")) {
    first = std::min(first, b);
  }
  for (int64_t r = 0; r < queries * a.H; ++r) {
    const int64_t i = r / a.H, h = r % a.H, row = (a.cu_q[b] + i) * a.H + h;
    const int64_t last = a.causal ? end - (queries - 1 - i) : end;
    const double lse = Attend(a, first + i, h, begin, std::max(begin, last), &sums);
    std::transform(sums.begin(), sums.end(), a.o + row * a.D, Narrow<T>);
    if (a.lse != nullptr) a.lse[row] = static_cast<float>(lse);
  }
}

// Rows of no sequence.
template <class Typed>
void Clear(const Typed& a, int64_t begin, int64_t end) {
  std::fill(a.o + begin * a.H * a.D, a.o + end * a.H * a.D, Narrow<typename Typed::T>(0));
  if (a.lse != nullptr)
    std::fill(a.lse + begin * a.H, a.lse + end * a.H, static_cast<float>(kEmpty));
}

}  // namespace

opcast::Status AttendRagged(const AttendRaggedArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    Clear(a, 0, a.cu_q[0]);
    for (int64_t b = 0; b < a.B; ++b) Sequence(a, b);
    Clear(a, a.cu_q[a.B], a.N);
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
