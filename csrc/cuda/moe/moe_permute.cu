// permuted = the rows of x by expert, one for each slot of a token; row_map = where they went. Rows
// are copied as they are; see group_by_expert.h for their places.
//
// Registers: at most 64.
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/moe/group_by_expert.h"
#include "cuda/moe/permuted_rows.h"
#include "moe_permute.gen.h"

namespace opcast_ops {

opcast::Status MoePermuteCuda(const MoePermuteArgs& args, const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.num_experts};
  const opcast::Status status = PlaceItems(
      items, 1, args.counts, PutRows{args.row_map, args.expert_offsets, items.experts}, launch);
  if (!status.ok()) return status;
  return Visit(args, [&](const auto& a) {
    return PermuteRows(a.permuted, a.x, items, a.row_map, a.expert_offsets, a.k, a.D, launch);
  });
}

}  // namespace opcast_ops
