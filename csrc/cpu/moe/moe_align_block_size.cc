// sorted_ids = the items (token * k + slot) by expert, in whole blocks for each; expert_ids = the
// expert of each block. Integers only. One thread: to count and to place some 10^5 items takes less
// than a tenth of a millisecond.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/group_by_expert.h"
#include "moe_align_block_size.gen.h"

namespace opcast_ops {

opcast::Status MoeAlignBlockSize(const MoeAlignBlockSizeArgs& args, const opcast::Launch&) {
  const Items items{args.topk_ids, args.N * args.k, args.num_experts};
  const auto none = opcast::Narrow<int32_t>(items.count);
  int32_t* block = args.expert_ids;
  const auto begin = [&](int64_t e, int64_t place, int64_t own) {
    const int64_t padded = Padded(own, args.block_size);
    std::fill_n(args.sorted_ids + place + own, padded - own, none);
    block = std::fill_n(block, padded / args.block_size, opcast::Narrow<int32_t>(e));
  };
  const int64_t end = Group(items, args.block_size, args.counts, begin);
  std::fill(args.sorted_ids + end, args.sorted_ids + args.S, none);
  std::fill(block, args.expert_ids + Padded(args.S, args.block_size) / args.block_size, -1);
  args.num_tokens_post_pad[0] = opcast::Narrow<int32_t>(end);
  Place(items, args.counts, [&](int64_t item, int64_t place) {
    if (place >= 0) args.sorted_ids[place] = opcast::Narrow<int32_t>(item);
  });
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
