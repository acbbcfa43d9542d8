#include "dequantize_int4.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status DequantizeInt4(const DequantizeInt4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    opcast::ParallelFor(launch, a.batch * a.G, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        for (int64_t i = g * a.group_size; i < (g + 1) * a.group_size; ++i) {
          a.x[i] = Narrow<O>(PackedInteger(a.q, i) * a.scale[g]);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
