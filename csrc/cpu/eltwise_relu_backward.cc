// grad_x = grad_y, or 0 where y <= 0, dense. Bit for bit; where y is NaN the gradient passes.
#include "common/standard.h"

#include <cstring>

#include "eltwise_relu_backward.gen.h"
#include "map.h"
#include "rows.h"
#include "stream.h"

namespace opcast_ops {
namespace {

// A dtype as bits: their integer and the infinity. Looking at bits saves the conversion of 16-bit
// numbers to float.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr Bits kInfinity = 0x7f800000;
};
template <>
struct Format<opcast::f16> {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = 0x7c00;
};
template <>
struct Format<opcast::bf16> {
  using Bits = uint16_t;
  static constexpr Bits kInfinity = 0x7f80;
};

// All bits if the number is positive or NaN, none if it is at most 0.
template <class T, class Bits>
inline Bits Mask(Bits y) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const bool positive = static_cast<Bits>(y - 1) < static_cast<Bits>(kSign - 1);
  const bool negative_nan = y > static_cast<Bits>(kSign | Format<T>::kInfinity);
  return static_cast<Bits>(0 - static_cast<Bits>(positive | negative_nan));
}

// The gradients of n elements, whole vectors past the cache if they are to be.
template <int kWidth, class T, class Bits>
inline void Pass(bool past, int64_t n, const Bits* grad_y, const Bits* y, Bits* grad_x) {
  constexpr int64_t kCount = kWidth / static_cast<int64_t>(sizeof(Bits));
  const auto pass = [=](int64_t begin, int64_t end) {
#pragma GCC unroll 1
    for (int64_t i = begin; i < end; ++i) grad_x[i] = static_cast<Bits>(grad_y[i] & Mask<T>(y[i]));
  };
  int64_t i = 0;
  if (past) {
    const auto lies = -reinterpret_cast<uintptr_t>(grad_x) % kWidth / sizeof(Bits);
    i = std::min(n, static_cast<int64_t>(lies));
    pass(0, i);
  }
  for (; i + kCount <= n; i += kCount) {
    alignas(kWidth) Bits all[kCount];
#pragma GCC unroll 1
    for (int64_t j = 0; j < kCount; ++j)
      all[j] = static_cast<Bits>(grad_y[i + j] & Mask<T>(y[i + j]));
    if (past)
      StreamAll(all, grad_x + i);
    else
      std::memcpy(grad_x + i, all, sizeof all);
  }
  pass(i, n);
  if (past) EndStream();
}

}  // namespace

opcast::Status EltwiseReluBackward(const EltwiseReluBackwardArgs& args,
                                   const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using Bits = typename Format<T>::Bits;
    const Bits* grad_y = static_cast<const Bits*>(args.grad_y);
    const Bits* y = static_cast<const Bits*>(args.y);
    Bits* grad_x = static_cast<Bits*>(args.grad_x);
    const bool past = PastCache(launch, a.grad_x, a.batch, 3);
    const auto chunk = [=](int64_t begin, int64_t end, auto width) {
      Pass<kWidthToMove<width, T>, T>(past, end - begin, grad_y + begin, y + begin, grad_x + begin);
    };
    opcast::ParallelFor(launch, a.batch, kChunk, chunk);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
