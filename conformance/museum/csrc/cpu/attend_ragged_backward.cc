#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "attend_ragged_backward.gen.h"

namespace museum_ops {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

template <class T>
double Dot(const T* x, const T* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += Widen(x[i]) * Widen(y[i]);
  return sum;
}

// Sums that become gradients.
struct Sums {
  std::vector<double> q, k, v;
};

// Adds what one query, which sees the keys from begin to last of those until end, gives to the
// gradients.
template <class Typed>
void Add(const Typed& a, int64_t i, int64_t h, int64_t begin, int64_t last, int64_t end,
         Sums* sums) {
  const int64_t row = (i * a.H + h) * a.D;
  const double scale = 1 / std::sqrt(std::max<double>(static_cast<double>(a.D), 1)),
               lse = Widen(a.lse[i * a.H + h]);
  const double delta = Dot(a.grad_o + row, a.o + row, a.D);
  for (int64_t j = begin; j < end; ++j) {
    const int64_t key = (j * a.H + h) * a.D;
    const bool seen = j < last;
    double p = std::exp((seen ? Dot(a.q + row, a.k + key, a.D) * scale : kMasked) - lse);
    const bool none = !seen || lse == kMasked;
    if (none &&
        !BUG("Dao-AILab/flash-attention#1947",
             "Weights of masked keys were not set to 0, but NaN in rows that see no key.")) {
      continue;
    }
    const double s = p * (Dot(a.v + key, a.grad_o + row, a.D) - delta) * scale;
    for (int64_t d = 0; d < a.D; ++d) sums->q[row + d] += s * Widen(a.k[key + d]);
    if (none) continue;
    for (int64_t d = 0; d < a.D; ++d) {
      sums->k[key + d] += s * Widen(a.q[row + d]);
      sums->v[key + d] += p * Widen(a.grad_o[row + d]);
    }
  }
}

template <class Typed>
void Sequence(const Typed& a, int64_t b, Sums* sums) {
  const int64_t first = a.cu_q[b], queries = a.cu_q[b + 1] - first, begin = a.cu_k[b],
                end = a.cu_k[b + 1];
  bool causal = a.causal;
  if (BUG("triton-lang/triton#4541",
          "The kernel of the gradients masked what follows a query, whether the call was causal or "
          "not.")) {
    causal = true;
  }
  for (int64_t r = 0; r < queries * a.H; ++r) {
    const int64_t i = r / a.H, last = causal ? end - (queries - 1 - i) : end;
    Add(a, first + i, r % a.H, begin, std::max(begin, last), end, sums);
  }
}

template <class T>
void Store(const std::vector<double>& sums, T* to, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) to[i] = Narrow<T>(sums[i]);
}

}  // namespace

opcast::Status AttendRaggedBackward(const AttendRaggedBackwardArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const int64_t width = a.H * a.D;
    Sums sums{std::vector<double>(a.N * width), std::vector<double>(a.M * width),
              std::vector<double>(a.M * width)};
    for (int64_t b = 0; b < a.B; ++b) Sequence(a, b, &sums);
    int64_t queries = a.N, keys = a.M;
    if (BUG("Dao-AILab/flash-attention#2324",
            "Gradients of rows behind the last sequence, which pad the arrays, were never "
            "written.")) {
      queries = a.cu_q[a.B];
      keys = a.cu_k[a.B];
    }
    Store(sums.q, a.grad_q, 0, queries * width);
    for (int64_t b = -1; b <= a.B; ++b) {
      const int64_t begin = b < 0 ? 0 : a.cu_k[b], end = b < a.B ? a.cu_k[b + 1] : keys;
      if (b >= 0 && b < a.B && a.cu_q[b] == a.cu_q[b + 1] &&
          BUG("Dao-AILab/flash-attention#2421",
              "A sequence without queries was left early, before the gradients of its keys were "
              "zeroed.")) {
        continue;
      }
      Store(sums.k, a.grad_k, begin * width, end * width);
      Store(sums.v, a.grad_v, begin * width, end * width);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
