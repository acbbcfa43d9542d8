// values, indices = the k largest or smallest numbers of each row of x, in order, dense. Exact:
// what is compared are ranks, see common/sort_key.h.
//
// A row has a block. It finds the key of the last number that is wanted, four bits at a time, by
// counting keys; lists the ranks above it, and as many of the equal ones as are wanted, those with
// the lowest columns; and sorts the list.
//
// Registers: at most 72.
// sass: allows call in TopkKernel: indices beyond 32 bits
// sass: allows narrow in TopkKernel: rows at any address
#include "common/sort_key.h"
#include "cuda/lib/block_prefix_sum.h"
#include "cuda/sort/bitonic_sort.h"
#include "topk.gen.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 256;
constexpr int kBits = 4, kDigits = 1 << kBits, kKeyBits = 32;
constexpr int kParts = kThreads / kDigits;  // of the threads, whose counts are added up

template <class T>
struct Rows {
  const T* x;
  const int32_t* lengths;  // null: all are n
  T* values;
  int32_t* indices;
  uint64_t* ranks;
  int64_t count, n, k;
  bool largest;

  OPCAST_DEVICE int64_t Length(int64_t row) const {
    const int64_t length = lengths == nullptr ? n : lengths[row];
    return length < 0 ? 0 : length < n ? length : n;
  }

  OPCAST_DEVICE uint32_t Key(int64_t row, int64_t column) const {
    return RankKey(static_cast<float>(x[row * n + column]), largest);
  }
};

struct Shared {
  uint32_t counts[kDigits][kThreads];
  int64_t sums[kDigits][kParts];
};

// Adds up what each thread has counted of each digit, in parts.
OPCAST_DEVICE void AddUp(const uint32_t (&counts)[kDigits], Shared& shared) {
  OPCAST_UNROLL
  for (int d = 0; d < kDigits; ++d) shared.counts[d][threadIdx.x] = counts[d];
  __syncthreads();
  const int digit = threadIdx.x / kParts, part = threadIdx.x % kParts;
  int64_t sum = 0;
  OPCAST_NO_UNROLL
  for (int t = part; t < kThreads; t += kParts) sum += shared.counts[digit][t];
  shared.sums[digit][part] = sum;
  __syncthreads();
}

// The key of the last number that is wanted; `wanted` becomes how many numbers with it are.
template <class T>
OPCAST_DEVICE uint32_t LastKey(const Rows<T>& rows, int64_t row, int64_t n, int64_t* wanted,
                               Shared& shared) {
  uint32_t last = 0;
  OPCAST_NO_UNROLL
  for (int shift = kKeyBits - kBits; shift >= 0; shift -= kBits) {
    uint32_t counts[kDigits] = {};
    OPCAST_NO_UNROLL
    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
      const uint64_t key = rows.Key(row, i);
      if (key >> (shift + kBits) != last) continue;
      const int digit = static_cast<int>(key >> shift & (kDigits - 1));
      OPCAST_UNROLL
      for (int d = 0; d < kDigits; ++d) counts[d] += digit == d;
    }
    AddUp(counts, shared);
    int digit = kDigits;
    int64_t above = 0, sum = 0;
    while (above + sum < *wanted) {
      above += sum;
      sum = 0;
      --digit;
      for (int part = 0; part < kParts; ++part) sum += shared.sums[digit][part];
    }
    *wanted -= above;
    last = last << kBits | static_cast<uint32_t>(digit);
  }
  return last;
}

// Lists the ranks of k numbers of the row: each thread has a stretch of columns, so that they keep
// their order.
template <class T>
OPCAST_DEVICE void List(const Rows<T>& rows, int64_t row, int64_t n, int64_t k, uint32_t last,
                        int64_t wanted, uint64_t* list) {
  const int64_t begin = n * threadIdx.x / kThreads;
  const int64_t end = n * (threadIdx.x + 1) / kThreads;
  int64_t above = 0, equal = 0;
  for (int64_t i = begin; i < end; ++i) {
    const uint32_t key = rows.Key(row, i);
    above += key > last;
    equal += key == last;
  }
  above = CountBefore<kThreads>(above);
  equal = CountBefore<kThreads>(equal);
  for (int64_t i = begin; i < end; ++i) {
    const uint32_t key = rows.Key(row, i);
    if (key > last) list[above++] = Rank(key, i);
    if (key == last && equal++ < wanted) list[k - wanted + equal - 1] = Rank(key, i);
  }
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1) TopkKernel(Rows<T> rows) {
  __shared__ Shared shared;
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    uint64_t* const list = rows.ranks + row * rows.k;
    T* const values = rows.values + row * rows.k;
    int32_t* const indices = rows.indices + row * rows.k;
    const int64_t n = rows.Length(row), k = rows.k < n ? rows.k : n;
    for (int64_t i = k + threadIdx.x; i < rows.k; i += kThreads) {
      values[i] = static_cast<T>(rows.largest ? -INFINITY : INFINITY);
      indices[i] = -1;
    }
    int64_t wanted = k;
    const uint32_t last = LastKey(rows, row, n, &wanted, shared);
    List(rows, row, n, k, last, wanted, list);
    WriteRanked(rows.x + row * rows.n, k, list, values, indices);
  }
}

}  // namespace

opcast::Status TopkCuda(const TopkArgs& args, const opcast::Launch& launch) {
  if (args.k == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Rows<T> rows{a.x, a.lengths, a.values, a.indices, a.ranks, a.batch, a.N, a.k, a.largest};
    return opcast::Start(TopkKernel<T>, opcast::Blocks(a.batch), kThreads, 0, launch, rows);
  });
}

}  // namespace opcast_ops
