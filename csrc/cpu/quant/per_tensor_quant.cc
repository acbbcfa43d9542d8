// q = x / scale, dense arrays. See quantise_rows.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/quant/quantise_rows.h"
#include "per_tensor_quant.gen.h"

namespace opcast_ops {

opcast::Status PerTensorQuant(const PerTensorQuantArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto body = [&a](int64_t begin, int64_t end, auto width) {
      Quantise<width>(a.x + begin, end - begin, a.scale[0], a.q + begin);
    };
    opcast::ParallelFor(launch, a.batch, kChunk, body);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
