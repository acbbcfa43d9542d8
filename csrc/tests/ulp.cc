// Holds the functions of exp.h and sigmoid_gates.h against the C library's in double, for every
// float, or for every step-th one with the step as argument. Prints the largest error of each in
// units in the last place and the float that has it; the exit code is 1 if an error is larger than
// its bound.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cpu/lib/sigmoid_gates.h"

namespace {

constexpr int kCount = 4096;

// The distance of y from the exact value in units in the last place of the floats around that.
double Error(float y, double exact) {
  if (std::isnan(exact) || std::isnan(y)) return std::isnan(exact) && std::isnan(y) ? 0 : INFINITY;
  if (static_cast<float>(exact) == y) return 0;  // infinities, too
  const int exponent = exact == 0 ? -126 : std::ilogb(exact);
  return std::fabs(y - exact) / std::ldexp(1.0, (exponent < -126 ? -126 : exponent) - 23);
}

// Judges function(x) for the floats whose bits are 0, step, 2 * step, ...
template <class Function, class Exact>
bool Judge(const char* name, uint64_t step, double bound, Function function, Exact exact) {
  double worst = 0;
  float at = 0;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += kCount * step) {
    float x[kCount], y[kCount];
    for (int i = 0; i < kCount; ++i) {
      const uint64_t bits = first + static_cast<uint64_t>(i) * step;
      x[i] = opcast::detail::FromBits(static_cast<uint32_t>(bits));
    }
    for (int i = 0; i < kCount; ++i) y[i] = function(x[i]);
    for (int i = 0; i < kCount; ++i) {
      const double error = Error(y[i], exact(static_cast<double>(x[i])));
      if (error > worst) {
        worst = error;
        at = x[i];
      }
    }
  }
  const bool fine = worst <= bound;
  std::printf("%-8s %.3f ulp at %a, bound %.1f%s\n", name, worst, static_cast<double>(at), bound,
              fine ? "" : ": too large");
  return fine;
}

template <int kWidth>
bool JudgeAll(uint64_t step) {
  using namespace opcast_ops;
  std::printf("vectors of %d bytes\n", kWidth);
  const auto exp = [](double x) { return std::exp(x); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  bool fine = Judge("exp", step, 1, [](float x) { return Exp<kWidth>(x); }, exp);
  const auto less = [](double x) { return std::fabs(x) < 0.35f ? std::expm1(x) : 0; };
  const auto less_one = [](float x) { return std::fabs(x) < 0.35f ? ExpLessOne<kWidth>(x) : 0; };
  fine &= Judge("exp - 1", step, 1, less_one, less);
  const auto more = [](double x) { return std::fabs(x) <= 88 ? 1 + std::exp(x) : 0; };
  const auto one_plus = [](float x) { return std::fabs(x) <= 88 ? OnePlusExp<kWidth>(x) : 0; };
  fine &= Judge("1 + exp", step, 1.8, one_plus, more);
  fine &= Judge("sigmoid", step, 2.5, [](float x) { return Sigmoid<kWidth>(x); }, sigmoid);
  fine &= Judge("silu", step, 3.5, [](float x) { return Gated<kWidth>(x, x); }, silu);
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
#if defined(__FMA__)
  return JudgeAll<64>(step) ? 0 : 1;
#else
  return JudgeAll<16>(step) ? 0 : 1;
#endif
}
