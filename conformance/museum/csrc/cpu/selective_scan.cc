#include <cmath>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "selective_scan.gen.h"

namespace museum_ops {
namespace {

// Channel r of group g of sequence n.
template <class Typed>
void Scan(const Typed& a, int64_t n, int64_t g, int64_t r) {
  using T = typename Typed::T;
  const int64_t channel = g * a.R + r, row = (n * a.G * a.R + channel) * a.S;
  const bool constant = a.K == 1 && a.L != 1;
  const bool behind = constant && a.state == nullptr &&
                      BUG("state-spaces/mamba#371",
                          "Where b is constant, the last state was returned without the factor b.");
  const int64_t group =
      BUG("ggml-org/llama.cpp#15625",
          "Channels took turns in the groups instead of standing side by side in each.")
          ? channel % a.G
          : g;
  std::vector<double> h(static_cast<size_t>(a.S));
  const bool fresh = a.B == 1 && BUG("vllm-project/vllm#22034",
                                     "The initial state was ignored in a batch of one sequence.");
  for (size_t s = 0; s < h.size(); ++s)
    h[s] = a.state == nullptr || fresh
               ? 0
               : static_cast<double>(a.state[row + static_cast<int64_t>(s)]);
  for (int64_t t = 0; t < a.L; ++t) {
    const int64_t at = (n * a.L + t) * a.G * a.R + channel;
    const double d = Widen(a.delta[at]);
    const T* b = a.b + ((n * a.K + (a.K == 1 ? 0 : t)) * a.G + group) * a.S;
    const T* c = a.c + ((n * a.L + t) * a.G + group) * a.S;
    double sum = 0;
    for (size_t s = 0; s < h.size(); ++s) {
      const double written = Widen(b[s]), read = Widen(c[s]);
      h[s] = std::exp(d * static_cast<double>(a.decay[channel * a.S + static_cast<int64_t>(s)])) *
                 h[s] +
             d * Widen(a.u[at]) * (behind ? 1 : written);
      sum += (behind ? h[s] * written : h[s]) * read;
    }
    a.y[at] = Narrow<T>(sum);
  }
  for (size_t s = 0; s < h.size(); ++s)
    a.last[row + static_cast<int64_t>(s)] = static_cast<float>(h[s]);
}

}  // namespace

opcast::Status SelectiveScan(const SelectiveScanArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    for (int64_t n = 0; n < a.B; ++n) {
      for (int64_t g = 0; g < a.G; ++g) {
        for (int64_t r = 0; r < a.R; ++r) Scan(a, n, g, r);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
