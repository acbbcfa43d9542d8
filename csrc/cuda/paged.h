// Attention of one query of each sequence over a paged cache: see attention.h.
#pragma once

#include "attention.h"

namespace opcast_ops {

// Where the slots of one of the two caches lie.
template <class T>
struct PagedRows {
  const T* data;
  int64_t page, slot, head;

  PagedRows() = default;
  PagedRows(const T* cache, const opcast::Layout& layout, bool nhd)
      : data(cache),
        page(layout.Stride(-4)),
        slot(layout.Stride(nhd ? -3 : -2)),
        head(layout.Stride(nhd ? -2 : -3)) {}
};

// Keys and values of a sequence, for one head. Pages that the definition forbids lead to wrong
// results, but not out of the cache.
template <class T>
struct PagedKeys {
  PagedRows<T> k, v;
  const int32_t* table;
  int64_t pages, slots, head, count;

  OPCAST_DEVICE const T* At(const PagedRows<T>& rows, int64_t key) const {
    const int64_t listed = table[key / slots];
    const int64_t page = listed < 0 ? 0 : listed < pages ? listed : pages - 1;
    return rows.data + page * rows.page + key % slots * rows.slot + head * rows.head;
  }
  OPCAST_DEVICE const T* K(int64_t key) const { return At(k, key); }
  OPCAST_DEVICE const T* V(int64_t key) const { return At(v, key); }
};

// Tables says which pages a sequence has:
//   const int32_t* Pages(int64_t b) const, int64_t Count(int64_t b, int64_t slots) const
template <class T, class Tables>
struct PagedSequences {
  using Keys = PagedKeys<T>;
  PagedRows<T> k, v;
  Tables tables;
  int64_t pages, slots;

  OPCAST_DEVICE RowOfSequence<Keys> At(int64_t b, int64_t head) const {
    const int64_t count = pages == 0 || slots == 0 ? 0 : tables.Count(b, slots);
    return {true, count - 1, {k, v, tables.Pages(b), pages, slots, head, count}};
  }
};

// For the arguments of an op, as types.
template <class T, class Args, class Tables>
opcast::Status AttendPages(const Args& a, bool nhd, const opcast::Launch& launch,
                           const Tables& tables) {
  const int64_t q_token = a.q_layout.Stride(-3), q_head = a.q_layout.Stride(-2);
  using Source = PagedSequences<T, Tables>;
  const PagedRows<T> k(a.k_cache, a.k_cache_layout, nhd), v(a.v_cache, a.v_cache_layout, nhd);
  const AttentionCall<T, Source> call{Source{k, v, tables, a.P, a.S},
                                      SightOf(false, a.window_left, a.sm_scale, a.soft_cap),
                                      a.q,
                                      q_token,
                                      q_head,
                                      nullptr,
                                      a.o,
                                      a.lse,
                                      a.B,
                                      a.Hq,
                                      a.Hq / a.Hk,
                                      a.D,
                                      a.Dv};
  const bool whole = AlignedRows<T>({a.q, a.k_cache}, a.D) &&
                     AllWhole<T>({q_token, q_head, k.page, k.slot, k.head});
  return Attend(launch, whole, call);
}

}  // namespace opcast_ops
