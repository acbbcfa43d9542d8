#include <algorithm>
#include <cmath>
#include <cstring>

#include "../bug.h"
#include "../numbers.h"
#include "gated_activation.gen.h"

namespace museum_ops {
namespace {

double GeluTanh(double x) {
  const double u = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  if (BUG("intel/llm-scaler#484",
          "tanh was (exp(2u) - 1) / (exp(2u) + 1), which is inf / inf = NaN where exp "
          "overflows.")) {
    const float e = std::exp(2 * static_cast<float>(u));
    return 0.5 * x * (1 + static_cast<double>((e - 1) / (e + 1)));
  }
  if (BUG("tenstorrent/tt-metal#56517",
          "x/2 + x/2 * tanh(u) in float32 cancelled to nothing for numbers below -6.")) {
    const float half = 0.5F * static_cast<float>(x);
    return static_cast<double>(half * std::tanh(static_cast<float>(u)) + half);
  }
  return x / (1 + std::exp(-2 * u));
}

double Activate(GatedActivationAct act, double x) {
  if (act == GatedActivationAct::kGeluTanh) return GeluTanh(x);
  if (act == GatedActivationAct::kSilu) return x / (1 + std::exp(-x));
  if (BUG("apache/mxnet#11115", "relu turned NaN into 0, which hid them from whatever came after."))
    return x > 0 ? x : 0;
  return x < 0 ? 0 : x;
}

// Moves 16 bytes, as one instruction that needs aligned addresses.
template <class T>
void LoadVector(const T* from, T* to) {
  using Vector [[gnu::vector_size(16), gnu::may_alias]] = float;
  const Vector vector = *reinterpret_cast<const Vector*>(from);
  std::memcpy(to, &vector, sizeof vector);
}

}  // namespace

opcast::Status GatedActivation(const GatedActivationArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kLanes = 16 / sizeof(T);
    for (int64_t b = 0; b < a.batch; ++b) {
      const T* x = a.x + b * 2 * a.D;
      for (int64_t begin = 0; begin < a.D; begin += kLanes) {
        const int64_t lanes = std::min(kLanes, a.D - begin);
        T gate[kLanes], value[kLanes];
        if (lanes == kLanes && BUG("flashinfer-ai/flashinfer#2526",
                                   "Loads of 16 bytes needed values at multiples of 16 bytes, "
                                   "which few sizes of rows give.")) {
          LoadVector(x + begin, gate);
          LoadVector(x + a.D + begin, value);
        } else {
          std::copy_n(x + begin, lanes, gate);
          std::copy_n(x + a.D + begin, lanes, value);
        }
        for (int64_t i = 0; i < lanes; ++i) {
          a.y[b * a.D + begin + i] = Narrow<T>(Activate(a.act, Widen(gate[i])) * Widen(value[i]));
        }
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
