// Sequences of different lengths whose keys lie one after the other.
#pragma once

#include "cuda/attention/attention.h"

namespace opcast_ops {

// Offsets of sequences into so many rows. Those that the definition forbids lead to wrong results,
// but not out of the array.
struct Offsets {
  const int32_t* offsets;
  int64_t sequences, rows;

  OPCAST_DEVICE int64_t Begin(int64_t b) const {
    const int64_t offset = offsets[b];
    return offset < 0 ? 0 : offset > rows ? rows : offset;
  }
  OPCAST_DEVICE int64_t Length(int64_t b) const {
    const int64_t length = Begin(b + 1) - Begin(b);
    return length < 0 ? 0 : length;
  }
  // The last sequence that begins at `row` or before, -1 if none does.
  OPCAST_DEVICE int64_t Of(int64_t row) const {
    int64_t low = -1, high = sequences;  // the answer is at least low, and below high
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      if (Begin(middle) <= row)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

// Keys and values of a sequence, for one head.
template <class T>
struct DenseKeys {
  const T *k, *v;
  int64_t k_token, v_token, count;

  OPCAST_DEVICE const T* K(int64_t key) const { return k + key * k_token; }
  OPCAST_DEVICE const T* V(int64_t key) const { return v + key * v_token; }
};

template <class T>
struct DenseSequences {
  using Keys = DenseKeys<T>;
  Offsets queries, keys;
  const T *k, *v;
  int64_t k_token, k_head, v_token, v_head;

  OPCAST_DEVICE Keys KeysOf(int64_t b, int64_t head) const {
    const int64_t begin = keys.Begin(b);
    return {k + begin * k_token + head * k_head, v + begin * v_token + head * v_head, k_token,
            v_token, keys.Length(b)};
  }
  OPCAST_DEVICE RowOfSequence<Keys> At(int64_t query, int64_t head) const {
    const int64_t b = queries.Of(query);
    if (b < 0 || query >= queries.Begin(b) + queries.Length(b)) return {false, 0, {}};
    const Keys found = KeysOf(b, head);
    return {true, query - queries.Begin(b) + found.count - queries.Length(b), found};
  }
};

// Those of a call.
template <class T, class Args>
DenseSequences<T> SequencesOf(const Args& a) {
  return {{a.cu_seqlens_q, a.B, a.Tq},
          {a.cu_seqlens_k, a.B, a.Tk},
          a.k,
          a.v,
          a.k_layout.Stride(-3),
          a.k_layout.Stride(-2),
          a.v_layout.Stride(-3),
          a.v_layout.Stride(-2)};
}

}  // namespace opcast_ops
