#include "cache_nvfp4.gen.h"
#include "nvfp4.h"

namespace inference_ops {

opcast::Status CacheNvfp4(const CacheNvfp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t groups = a.H * a.D / 16;
    opcast::ParallelFor(launch, a.N, 1, [&a, groups](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const auto slot = static_cast<int64_t>(a.slots[n]);
        if (slot < 0) continue;
        for (int64_t g = 0; g < groups; ++g) {
          const int64_t to = slot * groups + g;
          const auto* key = a.keys + 16 * (n * groups + g);
          a.scale[to] = QuantizeGroup(key, *a.global_scale, a.cache + 8 * to);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
