// As the example's kernel for the CPU: a thread for each head of a piece, then one for each head of
// a sequence.
#include "decode_run.gen.h"
#include "opcast/device.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 64;

OPCAST_DEVICE double Weight(double score, double top) {
  return exp(score - (top == -INFINITY ? 0 : top));
}

OPCAST_DEVICE double Larger(double a, double b) { return b > a || b != b ? b : a; }

// Weighted values, then the largest score and the sum of the weights.
template <class Args>
__global__ void AttendKernel(Args a) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, piece = i / a.H, h = i % a.H;
  if (piece >= a.pieces + a.B) return;
  double* const values = a.parts + i * (a.D + 2);
  for (int64_t d = 0; d < a.D; ++d) values[d] = 0;
  double top = -INFINITY, total = 0;
  const auto* const q = a.q + (a.owners[piece] * a.H + h) * a.D;
  for (int64_t n = a.ranges[2 * piece]; n < a.ranges[2 * piece + 1]; ++n) {
    const auto *const k = a.k + (n * a.H + h) * a.D, *const v = a.v + (n * a.H + h) * a.D;
    double score = 0;
    for (int64_t d = 0; d < a.D; ++d)
      score += static_cast<double>(static_cast<float>(q[d])) * static_cast<float>(k[d]);
    score *= a.scale;
    const double before = top;
    top = Larger(top, score);
    const double kept = before == top ? 1 : Weight(before, top), weight = Weight(score, top);
    for (int64_t d = 0; d < a.D; ++d)
      values[d] = values[d] * kept + weight * static_cast<float>(v[d]);
    total = total * kept + weight;
  }
  values[a.D] = top;
  values[a.D + 1] = total;
}

template <class Args>
__global__ void MergeKernel(Args a) {
  using T = typename Args::T;
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, b = i / a.H, h = i % a.H;
  if (b >= a.B) return;
  const int64_t apart = a.H * (a.D + 2);
  const double* const parts = a.parts + h * (a.D + 2);
  double top = -INFINITY, total = 0;
  for (int64_t p = 0; p < a.pieces + a.B; ++p) {
    if (a.owners[p] == b) top = Larger(top, parts[p * apart + a.D]);
  }
  for (int64_t p = 0; p < a.pieces + a.B; ++p) {
    if (a.owners[p] == b) total += Weight(parts[p * apart + a.D], top) * parts[p * apart + a.D + 1];
  }
  for (int64_t d = 0; d < a.D; ++d) {
    double value = 0;
    for (int64_t p = 0; p < a.pieces + a.B; ++p) {
      if (a.owners[p] == b) value += Weight(parts[p * apart + a.D], top) * parts[p * apart + d];
    }
    a.o[i * a.D + d] = static_cast<T>(static_cast<float>(total == 0 ? 0 : value / total));
  }
  if (a.lse) a.lse[i] = static_cast<float>(top == -INFINITY ? top : top + log(total));
}

}  // namespace

opcast::Status DecodeRunCuda(const DecodeRunArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const auto blocks = [&a](int64_t rows) {
      return opcast::Blocks((rows * a.H + kThreads - 1) / kThreads);
    };
    const opcast::Status status =
        opcast::Start(AttendKernel<Args>, blocks(a.pieces + a.B), kThreads, 0, launch, a);
    return status.ok() ? opcast::Start(MergeKernel<Args>, blocks(a.B), kThreads, 0, launch, a)
                       : status;
  });
}

}  // namespace opcast_ops
