// q = x over the scale of its group of columns, which is the group's largest magnitude over the
// largest number of Q; dense rows. A group with NaN or infinities has such a scale. See
// quantise_rows.h.
//
// Registers: at most 96.
// sass: allows call, fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/quant/quantise_rows.h"
#include "per_token_group_quant.gen.h"

namespace opcast_ops {

opcast::Status PerTokenGroupQuantCuda(const PerTokenGroupQuantArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t groups = a.batch * (a.N / a.group_size);
    return QuantiseRows(launch, groups, a.group_size, a.x, ScaleRule{nullptr, a.scale_ue8m0}, a.q,
                        a.scale);
  });
}

}  // namespace opcast_ops
