// c = a + b, dense. The float sum of two 16-bit numbers is exact enough that rounding it gives the
// correctly rounded sum.
#include "eltwise_add.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {

opcast::Status EltwiseAdd(const EltwiseAddArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const T* left = a.a;
    const T* right = a.b;
    T* sum = a.c;
    opcast::ParallelFor(launch, a.batch, kChunk, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        sum[i] = Round<T>(static_cast<float>(left[i]) + static_cast<float>(right[i]));
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
