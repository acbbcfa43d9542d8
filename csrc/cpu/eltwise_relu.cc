// y = max(x, 0), dense. Exact; NaN stays NaN.
#include "eltwise_relu.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {

opcast::Status EltwiseRelu(const EltwiseReluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const T* x = a.x;
    T* y = a.y;
    opcast::ParallelFor(launch, a.batch, kChunk, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float value = static_cast<float>(x[i]);
        y[i] = static_cast<T>(Select(value < 0, 0.0f, value));
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
