// grad_x[i] = grad_y[i] / (1 - p) where bit i says that dropout kept number i, else 0: what dropout
// does to x.
#include "cpu/lib/standard_headers.h"

#include "cpu/random/dropout.h"
#include "dropout_backward.gen.h"

namespace opcast_ops {

opcast::Status DropoutBackward(const DropoutBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const float scale = DropScale(a.p);
    const auto some = [&a, scale](int64_t begin, int64_t end, auto width) {
      ForBits<width>(begin, end, [&](int64_t i, auto n) {
        uint64_t bits = 0;
        std::memcpy(&bits, a.kept + i / 8, BytesOfBits(n));
        Keep<width>(bits, scale, n, a.grad_y + i, a.grad_x + i);
      });
    };
    opcast::ParallelFor(launch, a.N, kDropChunk, some);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
