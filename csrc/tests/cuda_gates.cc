// Compares the functions of gates.h with formulas in long double, for floats from all over their
// range: a part of them, or all of them with the argument 1. Prints the worst error of each in
// units of the last place, and "ok" if all are within what the kernels promise less one rounding.
// Those of gates_16_bits.h are tried with all numbers of 16 bits, and must be within a tenth of a
// unit of theirs before the result is rounded.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cuda/lib/gates.h"
#include "cuda/lib/gates_16_bits.h"

namespace {

using Real = long double;
constexpr Real kPi = 3.14159265358979323846264338327950288L;

Real LogisticOf(Real x) { return 1 / (1 + expl(-x)); }
// x / (1 + e^-u(x)) has the slope g + x g (1 - g) u'; with e = e^-|u|, no sum of it cancels more
// than long double can bear.
Real SlopeOf(Real x, Real u, Real slope) {
  const Real e = expl(-fabsl(u)), whole = (1 + e) * (1 + e);
  return (u < 0 ? e * (1 + e + x * slope) : 1 + e + x * slope * e) / whole;
}
Real Silu(Real x) { return x * LogisticOf(x); }
Real SiluSlope(Real x) { return SlopeOf(x, x, 1); }
Real Cubic(Real x) { return 2 * sqrtl(2 / kPi) * (x + 0.044715L * x * x * x); }
Real GeluTanh(Real x) { return x * LogisticOf(Cubic(x)); }
Real GeluTanhSlope(Real x) {
  return SlopeOf(x, Cubic(x), 2 * sqrtl(2 / kPi) * (1 + 3 * 0.044715L * x * x));
}
Real Gelu(Real x) { return x * erfcl(-x / sqrtl(2)) / 2; }
Real GeluSlope(Real x) { return erfcl(-x / sqrtl(2)) / 2 + x * expl(-x * x / 2) / sqrtl(2 * kPi); }

template <class Gate>
float Value(float x) {
  return opcast_ops::Gated(x, Gate::Part(fabsf(x))).Value();
}
template <class Gate>
float Slope(float x) {
  return opcast_ops::SlopeOf(x, Gate::Slope(fabsf(x))).Value();
}

double Distance(float got, Real want) {
  int exponent;
  frexpl(want, &exponent);
  return static_cast<double>(fabsl(got - want) / ldexpl(1, std::max(exponent - 24, -149)));
}

bool Within(const char* name, float (*f)(float), Real (*exact)(Real), double limit, uint32_t step) {
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits >> 32 == 0; bits += step) {
    const float x = opcast::detail::FromBits(static_cast<uint32_t>(bits));
    if (!(fabsf(x) < 1e30f)) continue;  // the formulas overflow
    const double distance = Distance(f(x), exact(x));
    if (distance > worst) worst = distance, at = x;
  }
  std::printf("%s: %.3f at %.9g\n", name, worst, static_cast<double>(at));
  return worst <= limit;
}

// Units in the last place of a number of 16 bits with so many fraction bits, the smallest of which
// is 2^lowest; half of one is the rounding.
double Distance16(float got, Real want, int fraction, int lowest) {
  int exponent;
  frexpl(want, &exponent);
  return static_cast<double>(fabsl(got - want) /
                             ldexpl(1, std::max(exponent - 1 - fraction, lowest)));
}

// All numbers x of a type of 16 bits, and f(x) times each of the others.
template <class T, size_t kCount>
bool Within16(const char* name, opcast_ops::ShortGated (*f)(float), Real (*exact)(Real),
              const float (&others)[kCount]) {
  constexpr bool kHalf = std::is_same_v<T, opcast::f16>;
  constexpr int kFraction = kHalf ? 10 : 7, kLowest = kHalf ? -24 : -133;
  constexpr float kMost = kHalf ? 65504.0f : 0x1.fep127f;
  double worst = 0;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    T x;
    x.bits = static_cast<uint16_t>(bits);
    const float value = x;
    if (!(fabsf(value) <= kMost)) continue;
    const Real gated = exact(value);
    for (const float other : others) {
      if (fabsl(gated * other) <= kMost)
        worst =
            std::max(worst, Distance16(f(value).Times(other), gated * other, kFraction, kLowest));
    }
  }
  std::printf("%s: %.4f\n", name, worst);
  return worst <= 0.1 && std::isnan(f(NAN).Value()) && std::isnan(f(-INFINITY).Value()) &&
         f(INFINITY).Value() == INFINITY;
}

template <class T>
bool AllWithin16(const char* dtype, float smallest, float largest) {
  std::puts(dtype);
  using namespace opcast_ops;
  const float one[] = {1}, others[] = {1, -0.375f, 0x1p15f, 0x1.02p14f, smallest, largest};
  bool ok = Within16<T>("silu times numbers", ShortLogistic::Of, Silu, others);
  ok &= Within16<T>("gelu", ShortNormal::Of, Gelu, one);
  return Within16<T>("tanh gelu", ShortCubicLogistic::Of, GeluTanh, one) && ok;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t step = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 10007;
  bool ok = Within("silu", Value<opcast_ops::Logistic>, Silu, 3.5, step);
  ok &= Within("slope of silu", Slope<opcast_ops::Logistic>, SiluSlope, 3.5, step);
  ok &= Within("gelu", Value<opcast_ops::Normal>, Gelu, 3.5, step);
  ok &= Within("slope of gelu", Slope<opcast_ops::Normal>, GeluSlope, 3.5, step);
  ok &= Within("tanh gelu", Value<opcast_ops::CubicLogistic>, GeluTanh, 3.5, step);
  ok &= Within("slope of tanh gelu", Slope<opcast_ops::CubicLogistic>, GeluTanhSlope, 3.5, step);
  ok &= AllWithin16<opcast::f16>("float16", 0x1p-24f, 65504);
  ok &= AllWithin16<opcast::bf16>("bfloat16", 0x1p-133f, 0x1.fep127f);
  std::puts(ok ? "ok" : "failed");
  return ok ? 0 : 1;
}
