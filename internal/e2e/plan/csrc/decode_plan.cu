// As the example's kernel for the CPU, by one thread.
#include "decode_plan.gen.h"
#include "opcast/device.h"

namespace opcast_ops {
namespace {

__global__ void PlanKernel(DecodePlanArgs a) {
  const int64_t length = a.keys > a.pieces ? (a.keys + a.pieces - 1) / a.pieces : 1;
  int64_t row = 0;
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t begin = a.indptr[b], end; begin < a.indptr[b + 1]; begin = end) {
      const int64_t whole = (begin / length + 1) * length;
      end = whole < a.indptr[b + 1] ? whole : a.indptr[b + 1];
      a.owners[row] = opcast::Narrow<int32_t>(b);
      a.ranges[2 * row] = opcast::Narrow<int32_t>(begin);
      a.ranges[2 * row + 1] = opcast::Narrow<int32_t>(end);
      ++row;
    }
  }
  for (; row < a.pieces + a.B; ++row) a.owners[row] = a.ranges[2 * row] = a.ranges[2 * row + 1] = 0;
}

}  // namespace

opcast::Status DecodePlanCuda(const DecodePlanArgs& args, const opcast::Launch& launch) {
  return opcast::Start(PlanKernel, 1, 1, 0, launch, args);
}

}  // namespace opcast_ops
