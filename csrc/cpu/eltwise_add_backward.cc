// grad_a = grad_b = grad_c, dense: two copies, bit for bit.
#include <algorithm>

#include "eltwise_add_backward.gen.h"
#include "rows.h"

namespace opcast_ops {

opcast::Status EltwiseAddBackward(const EltwiseAddBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const T* from = a.grad_c;
    T* left = a.grad_a;
    T* right = a.grad_b;
    opcast::ParallelFor(launch, a.batch, kChunk, [=](int64_t begin, int64_t end) {
      std::copy(from + begin, from + end, left + begin);
      std::copy(from + begin, from + end, right + begin);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
