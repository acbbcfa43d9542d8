// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence over the pages that kv_indices lists for it: see paged_cache.h.
//
// Registers: at most 168.
// sass: allows call in ChunksKernel: indices beyond 32 bits
// sass: allows narrow in ChunksKernel: arrays whose rows are not aligned
#include "cuda/attention/paged_cache.h"
#include "paged_decode_attention.gen.h"

namespace opcast_ops {
namespace {

// Offsets that the definition forbids lead to wrong results, but not out of the lists.
struct ListedPages {
  const int32_t *offsets, *indices, *last_lengths;
  int64_t listed;

  OPCAST_DEVICE int64_t Begin(int64_t b) const {
    const int64_t offset = offsets[b];
    return offset < 0 ? 0 : offset > listed ? listed : offset;
  }
  OPCAST_DEVICE const int32_t* Pages(int64_t b) const { return indices + Begin(b); }
  OPCAST_DEVICE int64_t Count(int64_t b, int64_t slots) const {
    const int64_t pages = Begin(b + 1) - Begin(b), last = last_lengths[b];
    if (pages <= 0) return 0;
    return (pages - 1) * slots + (last < 0 ? 0 : last < slots ? last : slots);
  }
  // Each sequence ends with a chunk that may not be full.
  OPCAST_DEVICE int64_t FirstPart(int64_t b, int64_t slots) const {
    return Begin(b) * slots / kChunk + b;
  }
};

}  // namespace

opcast::Status PagedDecodeAttentionCuda(const PagedDecodeAttentionArgs& args,
                                        const opcast::Launch& launch) {
  const bool nhd = args.layout == PagedDecodeAttentionLayout::kNHD;
  const ListedPages tables{args.kv_indptr, args.kv_indices, args.kv_last_page_len, args.M};
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    return AttendPages<typename Args::T, typename Args::C>(a, nhd, launch, tables);
  });
}

}  // namespace opcast_ops
