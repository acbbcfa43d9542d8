// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence over the pages that kv_indices lists for it: see paged_cache.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/paged_cache.h"
#include "paged_decode_attention.gen.h"

namespace opcast_ops {

opcast::Status PagedDecodeAttention(const PagedDecodeAttentionArgs& args,
                                    const opcast::Launch& launch) {
  const Offsets offsets{args.kv_indptr, args.M};
  const bool nhd = args.layout == PagedDecodeAttentionLayout::kNHD;
  return AttendPages(args, nhd, launch, [&](int64_t b) {
    const int64_t pages = offsets.Length(b);
    const int64_t last = std::clamp<int64_t>(args.kv_last_page_len[b], 0, args.S);
    return PageTable{args.kv_indices + offsets.Begin(b),
                     pages == 0 ? 0 : (pages - 1) * args.S + last};
  });
}

}  // namespace opcast_ops
