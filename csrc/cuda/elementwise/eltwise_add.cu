// c = a + b, dense. The float sum of two 16-bit numbers is exact enough that rounding it gives the
// correctly rounded sum.
//
// Registers: at most 32.
// sass: allows narrow in MapKernel: arrays whose rows are not aligned
#include "cuda/lib/map_elements.h"
#include "eltwise_add.gen.h"

namespace opcast_ops {
namespace {

struct Add {
  template <class>
  using Result = float;
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[2], float (&out)[1]) {
    out[0] = static_cast<float>(in[0]) + static_cast<float>(in[1]);
  }
};

}  // namespace

opcast::Status EltwiseAddCuda(const EltwiseAddArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return Map<Add>(MapArrays<T, 1, 2>{{a.c}, {a.a, a.b}, a.batch}, launch);
  });
}

}  // namespace opcast_ops
