// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence over the pages in its row of block_tables: see paged_cache.h.
//
// Registers: at most 168.
// sass: allows call in ChunksKernel: indices beyond 32 bits
// sass: allows narrow in ChunksKernel: arrays whose rows are not aligned
#include "cuda/attention/paged_cache.h"
#include "paged_attention.gen.h"

namespace opcast_ops {
namespace {

// Lengths that the definition forbids lead to wrong results, but not out of the table.
struct PageTables {
  const int32_t *tables, *lengths;
  int64_t most, parts;

  OPCAST_DEVICE const int32_t* Pages(int64_t b) const { return tables + b * most; }
  OPCAST_DEVICE int64_t Count(int64_t b, int64_t slots) const {
    const int64_t length = lengths[b];
    return length < 0 ? 0 : length < most * slots ? length : most * slots;
  }
  OPCAST_DEVICE int64_t FirstPart(int64_t b, int64_t) const { return b * parts; }
};

}  // namespace

opcast::Status PagedAttentionCuda(const PagedAttentionArgs& args, const opcast::Launch& launch) {
  const bool nhd = args.layout == PagedAttentionLayout::kNHD;
  const PageTables tables{args.block_tables, args.seq_lens, args.M, args.chunks};
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    return AttendPages<typename Args::T, typename Args::C>(a, nhd, launch, tables);
  });
}

}  // namespace opcast_ops
