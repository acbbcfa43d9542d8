// y = max(x, 0), dense. Exact; NaN stays NaN.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "eltwise_relu.gen.h"

namespace opcast_ops {

opcast::Status EltwiseRelu(const EltwiseReluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    // A float stays as it is, NaN included.
    using Nan = std::conditional_t<std::is_same_v<T, float>, NoNan, Exact>;
    const Stores<Nan> stores = {PastCache(launch, a.y, a.batch, 2)};
    const auto chunk = [&a, stores](int64_t begin, int64_t end, auto width) {
      const auto positive = [](float x) { return x < 0 ? 0 : x; };
      MoveTo<width>(stores, end - begin, positive, a.y + begin, a.x + begin);
    };
    opcast::ParallelFor(launch, a.batch, kChunk, chunk);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
