// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows, as the formula says: one
// sum after the other, in double, rounded once. It takes every call, and is what the others are
// measured by.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cmath>

#include "cpu/lib/scalar_functions.h"
#include "gemm.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kProductsPerChunk = 1 << 15;  // some 20 microseconds of work

double Activated(GemmActivation activation, double value) {
  if (activation == GemmActivation::kRelu) return value < 0 ? 0 : value;
  if (activation == GemmActivation::kSilu) return value / (1 + std::exp(-value));
  return value;
}

// The element of c in row i, counted through all matrices, and column j.
template <class T, class O>
double Element(const GemmTyped<T, O>& args, int64_t i, int64_t j) {
  const T* a = args.a + args.a_layout.Batch(i / args.M) + i % args.M * args.a_layout.Stride(-2);
  const T* b = args.b + j * args.b_layout.Stride(-2);
  double sum = 0;
  for (int64_t k = 0; k < args.K; ++k)
    sum += double{static_cast<float>(a[k])} * static_cast<float>(b[k]);
  sum *= args.alpha;
  if (args.bias != nullptr) sum += static_cast<float>(args.bias[j]);
  return Activated(args.activation, sum);
}

}  // namespace

opcast::Status GemmNaive(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    const int64_t grain = kProductsPerChunk / std::max<int64_t>(1, a.K);
    opcast::ParallelFor(launch, a.batch * a.M * a.N, grain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) a.c[at] = Round<O>(Element(a, at / a.N, at % a.N));
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
