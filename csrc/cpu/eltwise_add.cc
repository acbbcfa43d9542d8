// c = a + b, dense. The float sum of two 16-bit numbers is exact enough that rounding it gives the
// correctly rounded sum.
#include "eltwise_add.gen.h"
#include "rows.h"
#include "scalar.h"

namespace ops {

opcast::Status EltwiseAdd(const EltwiseAddArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const T* a = static_cast<const T*>(args.a);
    const T* b = static_cast<const T*>(args.b);
    T* c = static_cast<T*>(args.c);
    opcast::ParallelFor(launch, args.batch, kChunk, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        c[i] = Round<T>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
