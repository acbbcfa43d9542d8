// Attention of the last queries of each sequence over a paged cache: see decode_attention.h.
#pragma once

#include "cuda/attention/decode_attention.h"

namespace opcast_ops {

// Where the slots of one of the two caches lie.
struct PagedRows {
  int64_t page, slot, head;

  PagedRows() = default;
  PagedRows(const opcast::Layout& layout, bool nhd)
      : page(layout.Stride(-4)),
        slot(layout.Stride(nhd ? -3 : -2)),
        head(layout.Stride(nhd ? -2 : -3)) {}
};

// Tables says which pages a sequence has:
//   const int32_t* Pages(int64_t b) const, int64_t Count(int64_t b, int64_t slots) const
//   int64_t FirstPart(int64_t b, int64_t slots) const   see decode_chunks.h, for one query
template <class Tables>
struct PagedSequences {
  static constexpr bool kLatent = false;
  PagedRows k, v;
  Tables tables;
  int64_t pages, slots, queries;  // of each sequence

  // Those that query n sees.
  OPCAST_DEVICE int64_t Count(int64_t n) const {
    if (pages == 0 || slots == 0) return 0;
    const Divided at = Divide(n, queries);
    const int64_t count = tables.Count(at.quotient, slots) - (queries - 1 - at.rest);
    return count < 0 ? 0 : count;
  }
  OPCAST_DEVICE int64_t FirstPart(int64_t n) const {
    const Divided at = Divide(n, queries);
    const int64_t first = tables.FirstPart(at.quotient, slots);
    return first * queries + at.rest * (tables.FirstPart(at.quotient + 1, slots) - first);
  }

  // Pages that the definition forbids lead to wrong results, but not out of the cache.
  OPCAST_DEVICE void Find(int64_t n, int64_t head, int64_t key, int64_t* k_at,
                          int64_t* v_at) const {
    const Divided at = Divide(key, slots);
    const int64_t listed = tables.Pages(Divide(n, queries).quotient)[at.quotient];
    const int64_t page = listed < 0 ? 0 : listed < pages ? listed : pages - 1;
    *k_at = page * k.page + at.rest * k.slot + head * k.head;
    *v_at = page * v.page + at.rest * v.slot + head * v.head;
  }
};

// For the arguments of an op, as types.
template <class T, class C, class Args, class Tables>
opcast::Status AttendPages(const Args& a, bool nhd, const opcast::Launch& launch,
                           const Tables& tables) {
  const int64_t q_token = a.q_layout.Stride(-3), q_head = a.q_layout.Stride(-2);
  using Source = PagedSequences<Tables>;
  const PagedRows k(a.k_cache_layout, nhd), v(a.v_cache_layout, nhd);
  const SightAndScores sight = SightOf(false, a.window_left, a.sm_scale, a.soft_cap);
  const DecodeCall<T, C, Source> call{Source{k, v, tables, a.P, a.S, a.q_len},
                                      sight,
                                      a.q,
                                      a.k_cache,
                                      a.v_cache,
                                      a.k_scale,
                                      a.v_scale,
                                      a.sinks,
                                      q_token,
                                      q_head,
                                      a.o,
                                      a.lse,
                                      a.sums,
                                      a.states,
                                      a.N,
                                      a.Hq,
                                      a.Hq / a.Hk,
                                      a.D,
                                      a.Dv,
                                      1};
  const bool whole = AlignedRows<T>({a.q, a.k_cache}, a.D) && AlignedRows<T>({a.v_cache}, a.Dv) &&
                     AllWhole<T>({q_token, q_head, k.page, k.slot, k.head, v.page, v.slot, v.head});
  return Decode(launch, whole, a.M * a.S, call);
}

}  // namespace opcast_ops
