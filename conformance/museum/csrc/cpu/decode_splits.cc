#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "decode_splits.gen.h"

namespace museum_ops {
namespace {

constexpr double kEmpty = -std::numeric_limits<double>::infinity();

// The keys of a row, of its sequence b and head h, that a query sees.
struct Keys {
  int64_t b, h, begin, end, part;

  Keys(const DecodeSplitsArgs& a, int64_t b, int64_t h)
      : b(b), h(h), begin(0), end(a.lengths[b]), part(256) {
    if (a.window) begin = std::max<int64_t>(0, end - *a.window);
    if (BUG("deepseek-ai/FlashMLA#212",
            "How finely a row was split depended on the number of rows, and so did its last "
            "bits.")) {
      part = 256 * std::min<int64_t>(a.B, 4);
    }
  }
  int64_t First(int64_t p) const { return std::max(begin, p * part); }
  int64_t Last(int64_t p) const { return std::min(end, (p + 1) * part); }
  bool Has(int64_t p) const { return p >= 0 && First(p) < Last(p); }
};

// The log-sum-exp of a part, and its attention if it has keys.
template <class Typed>
double Attend(const Typed& a, const Keys& keys, int64_t p, float* row) {
  double top = kEmpty, total = 0;
  const bool sink = a.sinks != nullptr && !keys.Has(p - 1);
  if (sink) top = Widen(a.sinks[keys.h]);
  std::vector<double> scores, sums(a.E);
  for (int64_t j = keys.First(p); j < keys.Last(p); ++j) {
    double s = 0;
    for (int64_t d = 0; d < a.D; ++d) {
      s += Widen(a.q[(keys.b * a.H + keys.h) * a.D + d]) *
           Widen(a.k[((keys.b * a.S + j) * a.H + keys.h) * a.D + d]);
    }
    scores.push_back(s / std::sqrt(std::max<double>(static_cast<double>(a.D), 1)));
    if (scores.back() > top || std::isnan(scores.back())) top = scores.back();
  }
  if (top == kEmpty) {
    std::fill_n(row, a.E, 0.0f);
    return kEmpty;
  }
  if (sink) total = std::exp(Widen(a.sinks[keys.h]) - top);
  for (size_t i = 0; i < scores.size(); ++i) {
    const double weight = std::exp(scores[i] - top);
    const auto* const v =
        a.v + ((keys.b * a.S + keys.First(p) + static_cast<int64_t>(i)) * a.H + keys.h) * a.E;
    for (int64_t e = 0; e < a.E; ++e) sums[e] += weight * Widen(v[e]);
    total += weight;
  }
  for (int64_t e = 0; e < a.E; ++e) row[e] = static_cast<float>(sums[e] / total);
  return top + std::log(total);
}

// Merges parts into a row, and returns their log-sum-exp.
template <class Typed>
double Merge(const Typed& a, const std::vector<int64_t>& parts, const float* states,
             const float* rows, typename Typed::T* to) {
  double top = kEmpty, total = 0;
  std::vector<double> sums(a.E);
  for (const int64_t p : parts) {
    if (states[p] > top || std::isnan(states[p])) top = states[p];
  }
  for (size_t i = 0; i < parts.size() && top != kEmpty; ++i) {
    const double weight = parts.size() == 1 ? 1 : std::exp(states[parts[i]] - top);
    for (int64_t e = 0; e < a.E; ++e) sums[e] += weight * Widen(rows[parts[i] * a.E + e]);
    total += weight;
  }
  for (int64_t e = 0; e < a.E; ++e)
    to[e] = Narrow<typename Typed::T>(top == kEmpty ? 0 : sums[e] / total);
  return top == kEmpty || parts.size() == 1 ? top : top + std::log(total);
}

template <class Typed>
void Decode(const Typed& a, const Keys& keys) {
  const int64_t at = keys.b * a.H + keys.h;
  float *const states = a.states + at * a.parts, *const rows = a.rows + at * a.parts * a.E;
  std::vector<int64_t> parts;
  for (int64_t p = 0; p * keys.part < keys.end; ++p) {
    if (keys.Has(p)) {
      states[p] = static_cast<float>(Attend(a, keys, p, rows + p * a.E));
      parts.push_back(p);
    } else if (p == 0 && a.sinks != nullptr &&
               BUG("ROCm/rocm-libraries#12227",
                   "A sink was added by the first part, which the window left empty, and by the "
                   "next.")) {
      states[p] = a.sinks[keys.h];
      std::fill_n(rows, a.E, 0.0f);
      parts.push_back(p);
    } else if (BUG("vllm-project/vllm#47188",
                   "Parts that the window left empty were merged, too, though nothing had been "
                   "written there.")) {
      parts.push_back(p);
    }
  }
  if (static_cast<int64_t>(parts.size()) > 64 &&
      BUG("ROCm/vllm#22",
          "Of more than 64 parts, as sequences of more than 16,384 tokens have them, the rest was "
          "not merged.")) {
    parts.resize(64);
  }
  typename Typed::T* const to = a.o + at * a.E;
  if (parts.empty()) {
    std::fill_n(to, a.E, Narrow<typename Typed::T>(0));
    a.lse[at] = a.sinks != nullptr ? a.sinks[keys.h] : static_cast<float>(kEmpty);
    return;
  }
  a.lse[at] = static_cast<float>(Merge(a, parts, states, rows, to));
}

}  // namespace

opcast::Status DecodeSplits(const DecodeSplitsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t i = 0; i < a.B * a.H; ++i) Decode(a, Keys(a, i / a.H, i % a.H));
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
