// grad_x = grad_y * slope(x), dense; the slope is F(x) + x f(x) with the normal distribution
// function F and its density f ("none"), or the derivative of gelu's tanh form ("tanh"). Both
// slopes have a zero near -0.75, around which they keep their relative precision. Computed in
// float: for float32, "none" adds again what products lose, and "tanh" takes the sum that has the
// zero in double, but for AVX-512 (see gelu_slope_avx512.h). Numbers for which that leaves the
// range of floats are all in double. Within 3.5 ulp of float32, 0.6 ulp of float16 and 0.75 ulp of
// bfloat16.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gelu_slope_avx512.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "gelu_backward.gen.h"

namespace opcast_ops {
namespace {

// The gradients of n elements, those in double where the ones in float do not hold.
template <int kWidth, class Slope, class Wide, class T>
inline void Gradients(int64_t n, Wide wide, T* to, const T* grad, const T* x) {
  const auto slow = [=](double grad, double x) { return grad * wide(x).slope; };
  MapEither<kWidth>(n, GradientOf<kWidth, T, Slope>(), IsOrdinary<T, Slope>, slow, to, grad, x);
}

}  // namespace

opcast::Status GeluBackward(const GeluBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto tanh = [&a](int64_t begin, int64_t end, auto width) {
      Gradients<width, TanhSlope<T>>(end - begin, WideGeluTanh<width>, a.grad_x + begin,
                                     a.grad_y + begin, a.x + begin);
    };
    const auto exact = [&a](int64_t begin, int64_t end, auto width) {
      Gradients<width, ExactSlope<T>>(end - begin, WideGelu<width>, a.grad_x + begin,
                                      a.grad_y + begin, a.x + begin);
    };
    if (a.approximate == GeluBackwardApproximate::kTanh) {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, tanh);
    } else {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, exact);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
