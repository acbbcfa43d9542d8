// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence over the pages in its row of block_tables: see paged_cache.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/paged_cache.h"
#include "paged_attention.gen.h"

namespace opcast_ops {

opcast::Status PagedAttention(const PagedAttentionArgs& args, const opcast::Launch& launch) {
  const bool nhd = args.layout == PagedAttentionLayout::kNHD;
  return AttendPages(args, nhd, launch, [&](int64_t b) {
    return PageTable{args.block_tables + b * args.M,
                     std::clamp<int64_t>(args.seq_lens[b], 0, args.M * args.S)};
  });
}

}  // namespace opcast_ops
