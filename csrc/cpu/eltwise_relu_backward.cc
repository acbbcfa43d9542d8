// grad_x = grad_y, or 0 where y <= 0, dense. Bit for bit; where y is NaN the gradient passes.
#include "common/standard.h"

#include "eltwise_relu_backward.gen.h"
#include "rows.h"

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

}  // namespace

opcast::Status EltwiseReluBackward(const EltwiseReluBackwardArgs& args,
                                   const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using Bits = typename Format<T>::Bits;
    const Bits* grad_y = static_cast<const Bits*>(args.grad_y);
    const Bits* y = static_cast<const Bits*>(args.y);
    Bits* grad_x = static_cast<Bits*>(args.grad_x);
    opcast::ParallelFor(launch, a.batch, kChunk, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        grad_x[i] = static_cast<Bits>(grad_y[i] & Mask<T>(y[i]));
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
