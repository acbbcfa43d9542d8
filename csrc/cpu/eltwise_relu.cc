// y = max(x, 0), dense. Exact; NaN stays NaN.
#include "eltwise_relu.gen.h"
#include "rows.h"
#include "scalar.h"

namespace ops {

opcast::Status EltwiseRelu(const EltwiseReluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const T* x = static_cast<const T*>(args.x);
    T* y = static_cast<T*>(args.y);
    opcast::ParallelFor(launch, args.batch, kChunk, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float value = static_cast<float>(x[i]);
        y[i] = static_cast<T>(Select(value < 0, 0.0f, value));
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
