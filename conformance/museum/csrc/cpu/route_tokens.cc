#include <cmath>
#include <limits>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "route_tokens.gen.h"

namespace museum_ops {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Whether an expert with the logit a comes before one with the logit b.
bool Before(double a, double b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

// A row of logits, and the probabilities that follow from it.
struct Row {
  template <class T>
  Row(const T* x, int64_t size) : logits(static_cast<size_t>(size)), shares(logits.size()) {
    double top = kNothing, sum = 0;
    for (size_t e = 0; e < logits.size(); ++e) {
      logits[e] = Widen(x[e]);
      if (logits[e] > top) top = logits[e];
    }
    for (size_t e = 0; e < logits.size(); ++e) sum += shares[e] = std::exp(logits[e] - top);
    for (double& share : shares) share /= sum;
  }

  std::vector<double> logits, shares;
};

// The two first experts, in one pass.
void ChooseTwo(const Row& row, float* best, int32_t* place, int32_t* ids) {
  const bool half = BUG("mlc-ai/mlc-llm#2694",
                        "Of the two best experts so far, only the first was initialised, so rows "
                        "of NaN or -inf kept an undefined second.");
  for (int j = 0; j < (half ? 1 : 2); ++j) {
    best[j] = static_cast<float>(kNothing);
    place[j] = half ? 0 : -1;
  }
  for (size_t e = 0; e < row.logits.size(); ++e) {
    const auto x = static_cast<float>(row.logits[e]);
    const auto wins = [&](int j) {
      return half ? x > best[j] : place[j] < 0 || Before(x, best[j]);
    };
    if (!wins(0) && !wins(1)) continue;
    const int at = wins(0) ? 0 : 1;
    if (at == 0) {
      best[1] = best[0];
      place[1] = place[0];
    }
    best[at] = x;
    place[at] = static_cast<int32_t>(e);
  }
  ids[0] = place[0];
  ids[1] = place[1];
}

// The first k experts, one after the other.
void Choose(Row& row, int64_t k, int32_t* ids) {
  std::vector<double> left = row.logits;
  if (BUG("sgl-project/sglang#30079",
          "Columns that padded a row to a power of two were -inf, so rows of NaN chose them.")) {
    size_t columns = 1;
    while (columns < left.size()) columns *= 2;
    left.resize(columns, kNothing);
  }
  const bool of_shares = BUG("vllm-project/vllm#39391",
                             "NaN made all probabilities of a row NaN, and then the first expert "
                             "was chosen in every turn.");
  std::vector<double> shares = row.shares;
  std::vector<bool> taken(left.size());
  for (int64_t j = 0; j < k; ++j) {
    size_t best = of_shares ? 0 : left.size();
    for (size_t e = 0; e < left.size(); ++e) {
      if (of_shares ? shares[e] > shares[best]
                    : !taken[e] && (best == left.size() || Before(left[e], left[best])))
        best = e;
    }
    taken[best] = true;
    if (of_shares) shares[best] = -10000;
    ids[j] = static_cast<int32_t>(best);
  }
}

}  // namespace

opcast::Status RouteTokens(const RouteTokensArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t n = 0; n < a.N; ++n) {
      Row row(a.gating + n * a.E, a.E);
      int32_t* ids = a.ids + n * a.k;
      if (a.k == 2) {
        ChooseTwo(row, a.best + 2 * n, a.place + 2 * n, ids);
      } else {
        Choose(row, a.k, ids);
      }
      for (int64_t j = 0; j < a.k; ++j) {
        const bool known = ids[j] >= 0 && ids[j] < a.E;
        a.weights[n * a.k + j] =
            known ? static_cast<float>(row.shares[static_cast<size_t>(ids[j])]) : 0;
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
