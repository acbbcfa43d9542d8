// y[i] = x[i] / (1 - p) where number i of the stream is p or more, else 0 (see common/philox.h),
// and bits that say where. The product with 1 / (1 - p), a float, is float, and is rounded once.
//
// Registers: at most 64.
// sass: allows narrow in DropKernel: arrays whose rows are not aligned
#include "cuda/random/dropout.h"
#include "dropout.gen.h"

namespace opcast_ops {
namespace {

// Which numbers are kept: uniform integers from `least` on. They are multiplied by `scale`.
template <class I>
struct Drop {
  opcast::Scalar<I> seed, offset;
  int32_t least;
  float scale;
};

template <class T, class I>
__global__ void __launch_bounds__(kDropThreads)
    DropKernel(Drop<I> drop, int64_t n, bool aligned, const T* x, T* y, uint8_t* kept) {
  const RandomStream stream(*drop.seed, *drop.offset);
  const int64_t step = int64_t{gridDim.x} * kDropThreads;
  for (int64_t k = int64_t{blockIdx.x} * kDropThreads + threadIdx.x; kDropEach * k < n; k += step) {
    uint32_t bits = 0;
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      const RandomBlock block = stream.BlockAt(2 * k + half);
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e)
        bits |= static_cast<uint32_t>(Uniform(block.at[e]) >= drop.least) << (4 * half + e);
    }
    const int64_t i = kDropEach * k, left = n - i;
    if (left < kDropEach) bits &= (1u << left) - 1;
    if (kept != nullptr) kept[k] = static_cast<uint8_t>(bits);
    Keep(bits, drop.scale, left, aligned, x + i, y + i);
  }
}

}  // namespace

opcast::Status DropoutCuda(const DropoutArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    using I = typename A::S;
    const Drop<I> drop{a.seed, a.offset, LeastKept(a.p), DropScale(a.p)};
    return opcast::Start(DropKernel<typename A::T, I>, opcast::Blocks(DropTiles(a.N)), kDropThreads,
                         0, launch, drop, a.N, Aligned({a.x, a.y}), a.x, a.y, a.kept);
  });
}

}  // namespace opcast_ops
