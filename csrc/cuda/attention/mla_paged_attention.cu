// o = softmax(sm_scale * (q_nope @ ckv.T + q_pe @ kpe.T)) @ ckv and the logarithm of the softmax's
// denominator, for each query over the pages in its sequence's row of block_tables: see
// decode_attention.h. The rotary columns are its keys, and the latent ones its values, which are
// part of the keys, too.
//
// Registers: at most 168.
// sass: allows narrow in ChunksKernel: arrays whose rows are not aligned
#include "cuda/attention/decode_attention.h"
#include "cuda/attention/ragged_sequences.h"
#include "mla_paged_attention.gen.h"

namespace opcast_ops {
namespace {

// Where the slots of a cache lie.
struct CacheStrides {
  int64_t page, slot;

  explicit CacheStrides(const opcast::Layout& layout)
      : page(layout.Stride(-3)), slot(layout.Stride(-2)) {}
};

template <class T>
struct LatentSequences {
  static constexpr bool kLatent = true;
  Offsets queries;
  const int32_t *tables, *lengths;
  CacheStrides ckv, kpe;
  int64_t pages, slots, most, parts;  // pages of a sequence, and chunks of a query, at most
  bool causal;
  const T* latent;
  int64_t latent_token, latent_head;

  // The sequence of query n, -1 if it belongs to none. Often each has one query.
  OPCAST_DEVICE int64_t Of(int64_t n) const {
    if (n < queries.sequences && Has(n, n)) return n;
    const int64_t b = queries.Of(n);
    return b >= 0 && Has(b, n) ? b : -1;
  }
  // Lengths that the definition forbids lead to wrong results, but not out of the table.
  OPCAST_DEVICE int64_t Count(int64_t n) const {
    const int64_t b = pages == 0 ? -1 : Of(n);
    if (b < 0) return 0;
    const int64_t all = lengths[b], there = all < most * slots ? all : most * slots;
    const int64_t end = queries.Begin(b) + queries.Length(b);
    const int64_t count = causal ? there - (end - 1 - n) : there;
    return count < 0 ? 0 : count;
  }
  OPCAST_DEVICE int64_t FirstPart(int64_t n) const { return n * parts; }

  // Pages that the definition forbids lead to wrong results, but not out of the caches.
  OPCAST_DEVICE void Find(int64_t n, int64_t, int64_t key, int64_t* k_at, int64_t* v_at) const {
    const Divided at = Divide(key, slots);
    const int64_t listed = tables[Of(n) * most + at.quotient];
    const int64_t page = listed < 0 ? 0 : listed < pages ? listed : pages - 1;
    *k_at = page * kpe.page + at.rest * kpe.slot;
    *v_at = page * ckv.page + at.rest * ckv.slot;
  }

 private:
  OPCAST_DEVICE bool Has(int64_t b, int64_t n) const {
    const int64_t begin = queries.Begin(b);
    return n >= begin && n < begin + queries.Length(b);
  }
};

}  // namespace

opcast::Status MlaPagedAttentionCuda(const MlaPagedAttentionArgs& args,
                                     const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using T = typename Args::T;
    const CacheStrides ckv(a.ckv_cache_layout), kpe(a.kpe_cache_layout);
    const int64_t latent_token = a.q_nope_layout.Stride(-3), token = a.q_pe_layout.Stride(-3);
    const int64_t latent_head = a.q_nope_layout.Stride(-2), head = a.q_pe_layout.Stride(-2);
    using Source = LatentSequences<T>;
    const Source source{{a.cu_seqlens_q, a.B, a.N},
                        a.block_tables,
                        a.seq_lens,
                        ckv,
                        kpe,
                        a.P,
                        a.S,
                        a.M,
                        a.chunks,
                        a.causal,
                        a.q_nope,
                        latent_token,
                        latent_head};
    const DecodeCall<T, typename Args::C, Source> call{
        source,      SightOf(false, std::nullopt, a.sm_scale, std::nullopt),
        a.q_pe,      a.kpe_cache,
        a.ckv_cache, a.kpe_scale,
        a.ckv_scale, nullptr,
        token,       head,
        a.o,         a.lse,
        a.sums,      a.states,
        a.N,         a.H,
        a.H,         a.Dr,
        a.Dc,        1};
    const bool whole = AlignedRows<T>({a.q_pe, a.kpe_cache}, a.Dr) &&
                       AlignedRows<T>({a.q_nope, a.ckv_cache}, a.Dc) &&
                       AllWhole<T>({latent_token, token, latent_head, head, ckv.page, ckv.slot,
                                    kpe.page, kpe.slot});
    return Decode(launch, whole, a.M * a.S, call);
  });
}

}  // namespace opcast_ops
