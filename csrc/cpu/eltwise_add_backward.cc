// grad_a = grad_b = grad_c, dense: two copies, bit for bit.
#include <algorithm>

#include "eltwise_add_backward.gen.h"
#include "rows.h"

namespace ops {

opcast::Status EltwiseAddBackward(const EltwiseAddBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const T* from = static_cast<const T*>(args.grad_c);
    T* a = static_cast<T*>(args.grad_a);
    T* b = static_cast<T*>(args.grad_b);
    opcast::ParallelFor(launch, args.batch, kChunk, [=](int64_t begin, int64_t end) {
      std::copy(from + begin, from + end, a + begin);
      std::copy(from + begin, from + end, b + begin);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
