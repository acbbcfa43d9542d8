// Sequences of different lengths that lie one after the other, and how their rows are cut into
// tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/row_reductions.h"

namespace opcast_ops {

// Offsets of sequences into so many rows. Those that the definition forbids lead to wrong results,
// but not out of the array.
struct Offsets {
  const int32_t* offsets;
  int64_t rows;

  int64_t Begin(int64_t b) const { return std::clamp<int64_t>(offsets[b], 0, rows); }
  int64_t Length(int64_t b) const {
    return std::clamp<int64_t>(offsets[b + 1], Begin(b), rows) - Begin(b);
  }
};

// Calls write(row, width) for rows of n numbers that belong to none of so many sequences.
template <class Write>
void ForOthers(const opcast::Launch& launch, const Offsets& offsets, int64_t sequences, int64_t n,
               Write write) {
  const int64_t first = offsets.Begin(0), last = std::max(first, offsets.Begin(sequences));
  const auto write_all = [=](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) write(i < first ? i : i - first + last, width);
  };
  opcast::ParallelFor(launch, offsets.rows - (last - first), RowsPerChunk(n), write_all);
}

// Parts of sequences, counted through all of them.
class SequenceParts {
 public:
  // parts(b) says how many sequence b has.
  template <class Parts>
  SequenceParts(int64_t sequences, Parts parts) : ends_(static_cast<size_t>(sequences)) {
    int64_t count = 0;
    for (int64_t b = 0; b < sequences; ++b) ends_[static_cast<size_t>(b)] = count += parts(b);
  }

  int64_t Count() const { return ends_.empty() ? 0 : ends_.back(); }

  struct Place {
    int64_t b, part;
  };
  Place At(int64_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const int64_t b = end - ends_.begin();
    return {b, index - (b == 0 ? 0 : *(end - 1))};
  }

 private:
  std::vector<int64_t> ends_;
};

// The element of an array of numbers that factors may have.
inline const void* ElementAt(opcast::DType type, const void* array, int64_t element) {
  const int64_t size = type == opcast::DType::kF32 ? 4 : 2;
  return static_cast<const char*>(array) + element * size;
}

// Tokens as a factor, with a line for each of `group` heads of each of them.
class TokenLines {
 public:
  TokenLines(int64_t count, int64_t token) : count_(count), token_(token) {}
  TokenLines(const TokenLines&) = delete;
  TokenLines& operator=(const TokenLines&) = delete;

  // `from` is the first line, and `head` where the next one begins.
  Factor Of(opcast::DType type, const void* from, int64_t head, int64_t group,
            bool along = true) const {
    return {type, from, head, along, &layout_, group};
  }

 private:
  const int64_t count_, token_;
  const opcast::Layout layout_{1, &count_, &token_, 0};
};

// Queries and keys of a sequence.
struct Sequence {
  int64_t begin, count, k_begin, k_count, group;

  template <class Args>
  Sequence(const Args& args, int64_t b)
      : begin(Offsets{args.cu_seqlens_q, args.Tq}.Begin(b)),
        count(Offsets{args.cu_seqlens_q, args.Tq}.Length(b)),
        k_begin(Offsets{args.cu_seqlens_k, args.Tk}.Begin(b)),
        k_count(Offsets{args.cu_seqlens_k, args.Tk}.Length(b)),
        group(args.Hq / args.Hk) {}

  // The lines of the queries of the heads that share a head of keys.
  template <class Args>
  Factor Q(const Args& args, int64_t head, const TokenLines& lines, bool along = true) const {
    const int64_t q_head = args.q_layout.Stride(-2);
    const int64_t first = begin * args.q_layout.Stride(-3) + head * group * q_head;
    return lines.Of(args.T, ElementAt(args.T, args.q, first), q_head, group, along);
  }
  // A line for each key.
  template <class Args>
  Factor K(const Args& args, int64_t head, bool along = true) const {
    return Keys(args.T, args.k, args.k_layout, head, along);
  }
  template <class Args>
  Factor V(const Args& args, int64_t head, bool along) const {
    return Keys(args.T, args.v, args.v_layout, head, along);
  }

 private:
  Factor Keys(opcast::DType type, const void* array, const opcast::Layout& layout, int64_t head,
              bool along) const {
    const int64_t token = layout.Stride(-3), first = k_begin * token + head * layout.Stride(-2);
    return {type, ElementAt(type, array, first), token, along};
  }
};

}  // namespace opcast_ops
