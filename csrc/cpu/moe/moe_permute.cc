// permuted = the rows of x by expert, one for each slot of a token; row_map = where they went. Rows
// are copied as they are; one thread finds their places.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/permuted_rows.h"
#include "moe_permute.gen.h"

namespace opcast_ops {

opcast::Status MoePermute(const MoePermuteArgs& args, const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.num_experts};
  const PermutedPlaces places{args.row_map, args.expert_offsets};
  FindPlaces(items, args.counts, places);
  return Visit(args, [&](const auto& a) {
    PermuteRows(launch, a.x, a.D, a.k, items, places, a.permuted);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
