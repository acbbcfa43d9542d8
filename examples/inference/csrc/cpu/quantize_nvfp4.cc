#include <algorithm>

#include "nvfp4.h"
#include "quantize_nvfp4.gen.h"

namespace inference_ops {

opcast::Status QuantizeNvfp4(const QuantizeNvfp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const bool swizzled = a.layout == QuantizeNvfp4Layout::kSwizzled;
    const Scales scales{swizzled, a.N / 16};
    const int64_t rows = swizzled ? (a.M + 127) / 128 * 128 : a.M;
    const int64_t columns = swizzled ? (scales.groups + 3) / 4 * 4 : scales.groups;
    std::fill(a.scale, a.scale + rows * columns, opcast::f8e4m3fn(0));
    opcast::ParallelFor(launch, a.M * scales.groups, 16, [&a, scales](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = scales.At(i / scales.groups, i % scales.groups);
        a.scale[at] = QuantizeGroup(a.x + 16 * i, *a.global_scale, a.q + 8 * i);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
