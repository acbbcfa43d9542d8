// Rows copied to where those of their experts stand.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"
#include "cuda/moe/group_by_expert.h"

namespace opcast_ops {

// For PlaceItems: row_map[item] is the item's place, offsets[e] where those of expert e begin.
struct PutRows {
  int32_t *row_map, *offsets;
  int64_t experts;

  OPCAST_DEVICE void Item(int64_t item, int64_t place) const {
    row_map[item] = opcast::Narrow<int32_t>(place);
  }
  OPCAST_DEVICE void Expert(int64_t e, int64_t place, int64_t items) const {
    if (threadIdx.x > 0) return;
    offsets[e] = opcast::Narrow<int32_t>(place);
    if (e + 1 == experts) offsets[experts] = opcast::Narrow<int32_t>(place + items);
  }
};

// Copies the token's row for an item, and clears the row of that number if it has no item. Items
// without an expert get the place -1.
template <class T>
struct PermutedRow {
  using Element = T;
  T* permuted;
  const T* x;
  Items items;
  int32_t* row_map;
  const int32_t* offsets;
  int64_t slots;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t item, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    const bool known = IsExpert(items.ids[item], items.experts);
    const bool behind = item >= offsets[items.experts];
    if (!known && member.Writes(item)) row_map[item] = -1;
    const int64_t place = known ? row_map[item] : 0;
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      if (known)
        Store<Form::kWhole>(Load<Form::kWhole>(x + item / slots * n, begin, n),
                            permuted + place * n, begin, n);
      if (behind) Store<Form::kWhole>(Vector<T>{}, permuted + item * n, begin, n);
    });
  }
};

template <class T>
opcast::Status PermuteRows(T* permuted, const T* x, const Items& items, int32_t* row_map,
                           const int32_t* offsets, int64_t slots, int64_t n,
                           const opcast::Launch& launch) {
  return ForRows(items.count, n, AlignedRows<T>({permuted, x}, n), launch,
                 PermutedRow<T>{permuted, x, items, row_map, offsets, slots});
}

}  // namespace opcast_ops
