// q = x over the scale of its row, which is the row's largest magnitude over the largest number of
// Q; dense rows. A row with NaN or infinities has such a scale. See quantise_rows.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/quant/quantise_rows.h"
#include "per_token_quant.gen.h"

namespace opcast_ops {

opcast::Status PerTokenQuant(const PerTokenQuantArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return QuantiseRows(launch, a.batch, a.N, a.x, ScaleRule{a.scale_ub}, a.q, a.scale);
  });
}

}  // namespace opcast_ops
