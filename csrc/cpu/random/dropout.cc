// y[i] = x[i] / (1 - p) where number i of the stream is p or more, else 0 (see common/philox.h),
// and bits that say where. The product with 1 / (1 - p), a float, is float, and is rounded once.
#include "cpu/lib/standard_headers.h"

#include "cpu/random/dropout.h"

#include "cpu/random/philox_lanes.h"
#include "dropout.gen.h"

namespace opcast_ops {

opcast::Status Dropout(const DropoutArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const RandomStream stream(*a.seed, *a.offset);
    const float scale = DropScale(a.p);
    const int32_t least = LeastKept(a.p);
    const auto some = [&a, &stream, scale, least](int64_t begin, int64_t end, auto width) {
      const UniformLanes<width> uniforms(stream);
      ForBits<width>(begin, end, [&](int64_t i, auto n) {
        uint64_t bits = uniforms.AtLeast(least, i / 4);
        if (n < 64) bits &= (uint64_t{1} << n) - 1;
        if (a.kept != nullptr) std::memcpy(a.kept + i / 8, &bits, BytesOfBits(n));
        Keep<width>(bits, scale, n, a.x + i, a.y + i);
      });
    };
    opcast::ParallelFor(launch, a.N, kDropChunk, some);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
