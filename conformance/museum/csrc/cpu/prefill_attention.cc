#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "prefill_attention.gen.h"

namespace museum_ops {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

double Slope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  if (BUG("ml-explore/mlx#3071",
          "Slopes of ALiBi followed the formula for powers of two, whatever the number of "
          "heads.")) {
    power = heads;
  }
  const auto each = 1 / static_cast<double>(power);
  const auto h = static_cast<double>(head < power ? head : head - power);
  return std::exp2(head < power ? -8 * (h + 1) * each : -4 * (2 * h + 1) * each);
}

// Whether the query of a place sees a key.
bool Sees(const PrefillAttentionArgs& a, int64_t place, int64_t key) {
  if (a.causal && key > place) return false;
  if (!a.window_left) return true;
  int64_t window = *a.window_left;
  if (BUG("huggingface/transformers#39408",
          "The number of keys of a window was passed as how many lie before the query, one too "
          "many.")) {
    ++window;
  }
  return key >= place - window;
}

double Limited(const PrefillAttentionArgs& a, double score) {
  return a.soft_cap ? *a.soft_cap * std::tanh(score / *a.soft_cap) : score;
}

template <class Typed>
double Score(const Typed& a, int64_t i, int64_t h, int64_t group, int64_t j) {
  const int64_t place = i - a.L + a.S;
  if (!Sees(a, place, j)) {
    return BUG("flashinfer-ai/flashinfer#350",
               "Masked scores were limited like all others, and so came back from minus infinity.")
               ? Limited(a, kMasked)
               : kMasked;
  }
  double sum = 0;
  for (int64_t d = 0; d < a.D; ++d) {
    double x = Widen(a.q[(i * a.HQ + h) * a.D + d]) * a.sm_scale;
    if (BUG("antirez/h3.c#3",
            "Scaled queries were rounded to the dtype of the arrays again before they met the "
            "keys.")) {
      x = Widen(Narrow<typename Typed::T>(x));
    }
    sum += x * Widen(a.k[(j * a.HK + group) * a.D + d]);
  }
  const double score = Limited(a, sum);
  return a.alibi ? score + Slope(h, a.HQ) * static_cast<double>(j - place) : score;
}

template <class Typed>
void Attend(const Typed& a, int64_t i, int64_t h, std::vector<double>* scores) {
  const int64_t group = h / (a.HQ / a.HK), place = i - a.L + a.S;
  double top = kMasked;
  if (BUG("flashinfer-ai/flashinfer#4401",
          "The largest score began at -50,000, so rows of which all lie below that were taken for "
          "empty.")) {
    if (a.sm_scale > 0) top = -5e4 * a.sm_scale;  // of products before their scale
  }
  const double lowest = top;
  for (int64_t j = 0; j < a.S; ++j) {
    const double s = (*scores)[j] = Score(a, i, h, group, j);
    if (s > top || std::isnan(s)) top = s;
  }
  const bool empty = top == lowest;
  double total = 0;
  for (int64_t j = 0; j < a.S; ++j)
    total += (*scores)[j] = empty || (*scores)[j] == kMasked ? 0 : std::exp((*scores)[j] - top);
  for (int64_t e = 0; e < a.E; ++e) {
    double sum = 0;
    for (int64_t j = 0; j < a.S && !empty; ++j) {
      if ((*scores)[j] != 0 || Sees(a, place, j))
        sum += (*scores)[j] * Widen(a.v[(j * a.HK + group) * a.E + e]);
    }
    a.o[(i * a.HQ + h) * a.E + e] = Narrow<typename Typed::T>(empty ? 0 : sum / total);
  }
  a.lse[i * a.HQ + h] = static_cast<float>(empty ? kMasked : top + std::log(total));
}

}  // namespace

opcast::Status PrefillAttention(const PrefillAttentionArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    std::vector<double> scores(a.S);
    const int64_t group = a.HQ / a.HK;
    for (int64_t i = 0; i < a.L; ++i) {
      for (int64_t b = 0; b < a.HQ; ++b) {
        int64_t h = b % a.HK * group + b / a.HK;
        if (BUG("HazyResearch/HipKittens#22",
                "Blocks found their head by the size of a group where the number of groups was "
                "meant.")) {
          h = b % group * group + b / group;
        }
        Attend(a, i, h, &scores);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
