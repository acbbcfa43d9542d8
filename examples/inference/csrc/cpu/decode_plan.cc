#include <algorithm>

#include "decode_plan.gen.h"

namespace inference_ops {

opcast::Status DecodePlan(const DecodePlanArgs& a, const opcast::Launch&) {
  const int64_t length = std::max<int64_t>((a.keys + a.pieces - 1) / a.pieces, 1);
  int64_t row = 0;
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t begin = a.indptr[b]; begin < a.indptr[b + 1]; ++row) {
      const int64_t end = std::min<int64_t>((begin / length + 1) * length, a.indptr[b + 1]);
      a.owners[row] = static_cast<int32_t>(b);
      a.ranges[2 * row] = static_cast<int32_t>(begin);
      a.ranges[2 * row + 1] = static_cast<int32_t>(end);
      begin = end;
    }
  }
  std::fill(a.owners + row, a.owners + a.pieces + a.B, 0);
  std::fill(a.ranges + 2 * row, a.ranges + 2 * (a.pieces + a.B), 0);
  return opcast::Status::Ok();
}

}  // namespace inference_ops
