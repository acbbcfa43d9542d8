// sorted_ids = the items (token * k + slot) by expert, in whole blocks for each; expert_ids = the
// expert of each block. Integers only; see group_by_expert.h.
//
// Registers: at most 64.
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
#include "cuda/moe/group_by_expert.h"
#include "moe_align_block_size.gen.h"

namespace opcast_ops {
namespace {

struct PutBlocks {
  int64_t block, experts, room;
  int32_t none;
  int32_t *sorted_ids, *expert_ids, *end;

  OPCAST_DEVICE void Item(int64_t item, int64_t place) const {
    sorted_ids[place] = opcast::Narrow<int32_t>(item);
  }

  // Pads the expert's last block; the last expert, what is behind it.
  OPCAST_DEVICE void Expert(int64_t e, int64_t place, int64_t items) const {
    const int64_t behind = place + Padded(items, block);
    Fill(sorted_ids, place + items, behind, none);
    Fill(expert_ids, place / block, behind / block, opcast::Narrow<int32_t>(e));
    if (e + 1 < experts) return;
    Fill(sorted_ids, behind, room, none);
    Fill(expert_ids, behind / block, Padded(room, block) / block, -1);
    if (threadIdx.x == 0) *end = opcast::Narrow<int32_t>(behind);
  }

 private:
  OPCAST_DEVICE static void Fill(int32_t* to, int64_t begin, int64_t end, int32_t value) {
    for (int64_t i = begin + threadIdx.x; i < end; i += kExpertThreads) to[i] = value;
  }
};

}  // namespace

opcast::Status MoeAlignBlockSizeCuda(const MoeAlignBlockSizeArgs& args,
                                     const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.num_experts};
  const PutBlocks put{args.block_size,
                      args.num_experts,
                      args.S,
                      opcast::Narrow<int32_t>(items.count),
                      args.sorted_ids,
                      args.expert_ids,
                      args.num_tokens_post_pad};
  return PlaceItems(items, args.block_size, args.counts, put, launch);
}

}  // namespace opcast_ops
