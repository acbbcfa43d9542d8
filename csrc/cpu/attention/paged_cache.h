// Attention of the last queries of each sequence over a paged cache: see attention.h for the
// algorithm and its precision. A task has the heads of a sequence that share keys, of one query.
//
// Keys of a step are copied to lie one after the other, values are read where they lie; what
// has 8 bits or a scale becomes float. Slots beyond the length of a sequence are not read. Pages
// that the definition forbids lead to wrong results, but not out of the cache.
#pragma once

#include <cstring>
#include <vector>

#include "cpu/attention/attention.h"
#include "cpu/attention/ragged_sequences.h"
#include "cpu/lib/streaming_stores.h"

namespace opcast_ops {

// Where the slots of one of the two caches lie, for one head; strides are in bytes.
struct PagedRows {
  const char* data;
  int64_t page, slot, pages, slots;

  PagedRows(const void* cache, const opcast::Layout& layout, bool nhd, int64_t bytes, int64_t head,
            int64_t pages, int64_t slots)
      : data(static_cast<const char*>(cache) + head * layout.Stride(nhd ? -2 : -3) * bytes),
        page(layout.Stride(-4) * bytes),
        slot(layout.Stride(nhd ? -3 : -2) * bytes),
        pages(pages),
        slots(slots) {}
  PagedRows(const char* data, int64_t page, int64_t slot, int64_t pages, int64_t slots)
      : data(data), page(page), slot(slot), pages(pages), slots(slots) {}

  // Writes where so many rows from a key on lie.
  void Find(const int32_t* table, int64_t key, int64_t count, const char** rows) const {
    int64_t listed = key / slots, at = key % slots;  // divisions cost more than copying a row
    for (int64_t i = 0; i < count; ++listed, at = 0) {
      const char* const begin = data + std::clamp<int64_t>(table[listed], 0, pages - 1) * page;
      for (; at < slots && i < count; ++at, ++i) rows[i] = begin + at * slot;
    }
  }
};

// How the numbers of a cache are read: as they are, or as floats.
struct CacheType {
  opcast::DType type;
  float scale = 1;
  bool scaled = scale != 1;

  bool IsFp8() const {
    return type == opcast::DType::kF8e4m3fn || type == opcast::DType::kF8e4m3fnuz;
  }
  bool AsFloats() const { return IsFp8() || scaled; }
  opcast::DType Read() const { return AsFloats() ? opcast::DType::kF32 : type; }
  int64_t Bytes() const { return IsFp8() ? 1 : type == opcast::DType::kF32 ? 4 : 2; }
  int64_t ReadBytes() const { return AsFloats() ? 4 : Bytes(); }

  // Writes n numbers as they are read.
  void Copy(const char* from, int64_t n, char* to) const {
    if (!AsFloats())
      return static_cast<void>(std::memcpy(to, from, static_cast<size_t>(n * Bytes())));
    float* const floats = reinterpret_cast<float*>(to);
    switch (type) {
      case opcast::DType::kF8e4m3fn:
        return Scale(reinterpret_cast<const opcast::f8e4m3fn*>(from), n, floats);
      case opcast::DType::kF8e4m3fnuz:
        return Scale(reinterpret_cast<const opcast::f8e4m3fnuz*>(from), n, floats);
      case opcast::DType::kF16:
        return Scale(reinterpret_cast<const opcast::f16*>(from), n, floats);
      case opcast::DType::kBf16:
        return Scale(reinterpret_cast<const opcast::bf16*>(from), n, floats);
      default:
        return Scale(reinterpret_cast<const float*>(from), n, floats);
    }
  }

 private:
  template <class C>
  void Scale(const C* from, int64_t n, float* to) const {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * scale;
  }
};

// The keys of a sequence, for one head.
class PagedKeys : public LineMaker {
 public:
  PagedKeys(const CacheType& k_type, const CacheType& v_type, const PagedRows& k,
            const PagedRows& v, const int32_t* table, int64_t keys, int64_t depth)
      : k_type_(k_type), v_type_(v_type), k_(k), v_(v), table_(table), keys_(keys), depth_(depth) {}

  StepFactors operator()(int64_t first, int64_t count) {
    thread_local std::vector<char> copies;  // fresh memory would cost more than many a step
    const int64_t line = depth_ * k_type_.ReadBytes();
    if (copies.size() < static_cast<size_t>(kStepKeys * line))
      copies.resize(static_cast<size_t>(kStepKeys * line));
    const char* from[kStepKeys + kAhead];
    const int64_t known = std::min(count + kAhead, keys_ - first);
    k_.Find(table_, first, known, from);
    v_.Find(table_, first, count, values_);
    for (int64_t i = 0; i < count && line > 0; ++i) {
      Fetch(from[std::min(i + kAhead, known - 1)], depth_ * k_type_.Bytes());
      k_type_.Copy(from[i], depth_, copies.data() + i * line);
    }
    count_ = count;
    StepFactors step{{k_type_.Read(), copies.data(), depth_}, {v_type_.Read(), nullptr, 0, false}};
    step.v.maker = this;
    return step;
  }

  const void* Line(int64_t line, int64_t row, int64_t rows, void* space) override {
    const int64_t bytes = v_type_.Bytes();
    Fetch(values_[std::min(line + kAhead, count_ - 1)] + row * bytes, rows * bytes);
    const char* const from = values_[line] + row * bytes;
    if (!v_type_.AsFloats()) return from;
    v_type_.Copy(from, rows, static_cast<char*>(space));
    return space;
  }

 private:
  // No machine guesses where the next row lies. So many rows are on their way at a time.
  static constexpr int64_t kAhead = 8;

  static void Fetch(const char* row, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) FetchToRead(row + i);
  }

  const CacheType k_type_, v_type_;
  const PagedRows k_, v_;
  const int32_t* const table_;
  const int64_t keys_, depth_;
  const char* values_[kStepKeys];  // of the keys of a step
  int64_t count_ = 0;
};

// Pages of a sequence, and how many keys it has.
struct PageTable {
  const int32_t* pages;
  int64_t keys;
};

// table(b) gives the PageTable of sequence b.
template <class Args, class Table>
opcast::Status AttendPages(const Args& args, bool nhd, const opcast::Launch& launch, Table table) {
  const int64_t group = args.Hq / args.Hk;
  const CacheType k_type{args.C, args.k_scale == nullptr ? 1 : *args.k_scale};
  const CacheType v_type{args.C, args.v_scale == nullptr ? 1 : *args.v_scale};
  const int64_t token = args.q_layout.Stride(-3), q_head = args.q_layout.Stride(-2);
  const auto attend = [&](int64_t begin, int64_t end, auto vector) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t n = index / args.Hk, head = index % args.Hk, first = head * group;
      PageTable pages = table(n / args.q_len);
      pages.keys -= args.q_len - 1 - n % args.q_len;
      if (args.P == 0 || args.S == 0 || pages.keys < 0) pages.keys = 0;
      const PagedRows k(args.k_cache, args.k_cache_layout, nhd, k_type.Bytes(), head, args.P,
                        args.S);
      const PagedRows v(args.v_cache, args.v_cache_layout, nhd, v_type.Bytes(), head, args.P,
                        args.S);
      PagedKeys keys(k_type, v_type, k, v, pages.pages, pages.keys, args.D);
      const void* const q = ElementAt(args.T, args.q, n * token + first * q_head);
      const Queries queries{{args.T, q, q_head},
                            group,
                            args.D,
                            {1, pages.keys, false, args.window_left},
                            {args.sm_scale, args.soft_cap},
                            args.sinks == nullptr ? nullptr : args.sinks + first,
                            args.Dv,
                            args.T,
                            args.o,
                            args.lse,
                            n * args.Hq + first,
                            args.Hq};
      for (int64_t row = 0; row < group; row += kBlockRows)
        Attention<vector, PagedKeys>(queries, &keys).Run(row, std::min(kBlockRows, group - row));
    }
  };
  opcast::ParallelFor(launch, args.N * args.Hk, 1, attend);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
