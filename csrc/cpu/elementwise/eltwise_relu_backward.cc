// grad_x = grad_y, or 0 where y <= 0, dense. Bit for bit; where y is NaN the gradient passes.
#include "cpu/lib/standard_headers.h"

#include <cstring>

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/streaming_stores.h"
#include "eltwise_relu_backward.gen.h"

namespace opcast_ops {
namespace {

// Numbers of 16 bits as integers, which saves their conversion to float.
using Bits = uint16_t;

template <class T>
constexpr Bits kInfinity = std::is_same_v<T, opcast::f16> ? 0x7c00 : 0x7f80;

// All bits if the number is positive or NaN, none if it is at most 0.
template <class T>
inline Bits Mask(Bits y) {
  constexpr Bits kSign = 0x8000;
  const bool positive = static_cast<Bits>(y - 1) < static_cast<Bits>(kSign - 1);
  const bool negative_nan = y > static_cast<Bits>(kSign | kInfinity<T>);
  return static_cast<Bits>(0 - static_cast<Bits>(positive | negative_nan));
}

// The gradients of n elements, whole vectors past the cache if they are to be.
template <int kWidth, class T>
inline void Pass(bool past, int64_t n, const T* grads, const T* results, T* to) {
  const Bits *grad_y = reinterpret_cast<const Bits*>(grads),
             *y = reinterpret_cast<const Bits*>(results);
  Bits* grad_x = reinterpret_cast<Bits*>(to);
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

template <int kWidth>
inline void Pass(bool past, int64_t n, const float* grad_y, const float* y, float* grad_x) {
  const auto f = [](float grad, float result) { return result <= 0 ? 0 : grad; };
  MoveTo<kWidth>(Stores<NoNan>{past}, n, f, grad_x, grad_y, y);
}

}  // namespace

opcast::Status EltwiseReluBackward(const EltwiseReluBackwardArgs& args,
                                   const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const bool past = PastCache(launch, a.grad_x, a.batch, 3);
    const auto chunk = [&a, past](int64_t begin, int64_t end, auto width) {
      Pass<width>(past, end - begin, a.grad_y + begin, a.y + begin, a.grad_x + begin);
    };
    opcast::ParallelFor(launch, a.batch, kChunk, chunk);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
