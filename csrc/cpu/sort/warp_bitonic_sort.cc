// y = the numbers of each row of x in order, dense rows of any length. Exact: what moves are keys,
// see common/sort_key.h.
//
// Short rows are sorted together, one in each lane of a vector, by the exchanges of a network that
// does not depend on their contents: Batcher's merge exchange, for any length (Knuth, The Art of
// Computer Programming 3, 5.2.2, algorithm M). Other rows are sorted by one byte of the keys after
// the other, the lowest first, which takes the same time for all contents.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cstring>

#include "common/sort_key.h"
#include "cpu/lib/gemm_packing.h"
#include "cpu/lib/row_reductions.h"
#include "warp_bitonic_sort.gen.h"

namespace opcast_ops {
namespace {

// The longest rows that are sorted together, if there are enough to use the lanes, or only few.
constexpr int64_t kShort = 512, kVeryShort = 32;
constexpr int kBytes = 4, kDigits = 256;

// A key of each row that is sorted together.
template <int kWidth>
using Keys __attribute__((vector_size(kWidth), may_alias)) = int32_t;

// Leaves the smaller keys of two lines in the first.
template <int kWidth>
inline void Exchange(Keys<kWidth>* a, Keys<kWidth>* b) {
  const Keys<kWidth> first = *a, second = *b;
  *a = first < second ? first : second;
  *b = first < second ? second : first;
}

// Sorts the lanes of n lines.
template <int kWidth>
inline void SortLines(int64_t n, Keys<kWidth>* lines) {
  int64_t half = 1;
  while (2 * half < n) half *= 2;
  for (int64_t p = half; p > 0; p /= 2) {
    int64_t q = half, r = 0, d = p;
    while (true) {
      for (int64_t i = r; i < n - d; i += 2 * p) {
        const int64_t end = std::min(i + p, n - d);
        for (int64_t j = i; j < end; ++j) Exchange<kWidth>(&lines[j], &lines[j + d]);
      }
      if (q == p) break;
      d = q - p, q /= 2, r = p;
    }
  }
}

// Sorts `rows` rows of n numbers, at most as many as there are lanes. `space` has room for as many
// numbers as n lines of lanes and one more square have.
template <int kWidth>
inline void SortTogether(const float* x, int64_t rows, int64_t n, int32_t flip, float* space,
                         float* y) {
  constexpr int64_t kLanes = Lanes<kWidth>::kCount;
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto count = static_cast<size_t>(std::min(kLanes, n - i)) * sizeof(float);
    Vector<kWidth> square[kLanes] = {};
    for (int64_t r = 0; r < rows; ++r) std::memcpy(&square[r], x + r * n + i, count);
    Transpose<kWidth>(square);
    std::memcpy(space + i * kLanes, square, sizeof square);
  }
  auto* const lines = reinterpret_cast<Keys<kWidth>*>(space);
  for (int64_t j = 0; j < n * kLanes; ++j)
    space[j] = opcast::detail::FromBits(static_cast<uint32_t>(SortKey(space[j]) ^ flip));
  SortLines<kWidth>(n, lines);
  for (int64_t j = 0; j < n * kLanes; ++j)
    space[j] = OfSortKey(static_cast<int32_t>(opcast::detail::Bits(space[j])) ^ flip);
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto count = static_cast<size_t>(std::min(kLanes, n - i)) * sizeof(float);
    Vector<kWidth> square[kLanes];
    std::memcpy(square, space + i * kLanes, sizeof square);
    Transpose<kWidth>(square);
    for (int64_t r = 0; r < rows; ++r) std::memcpy(y + r * n + i, &square[r], count);
  }
}

// Sorts a row of n numbers. `space` has room for 2 * n. Not part of loops that vectorise.
__attribute__((noinline)) void SortRow(const float* x, int64_t n, int32_t flip, float* space,
                                       float* y) {
  auto* from = reinterpret_cast<uint32_t*>(space);
  uint32_t* to = from + n;
  int64_t counts[kBytes][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    from[i] = static_cast<uint32_t>(SortKey(x[i]) ^ flip) ^ 0x80000000;
    for (int b = 0; b < kBytes; ++b) ++counts[b][from[i] >> 8 * b & 0xff];
  }
  for (int b = 0; b < kBytes; ++b) {
    int64_t* const places = counts[b];
    if (n > 0 && places[from[0] >> 8 * b & 0xff] == n) continue;  // all are equal
    int64_t sum = 0;
    for (int d = 0; d < kDigits; ++d) sum += std::exchange(places[d], sum);
    for (int64_t i = 0; i < n; ++i) to[places[from[i] >> 8 * b & 0xff]++] = from[i];
    std::swap(from, to);
  }
  for (int64_t i = 0; i < n; ++i)
    y[i] = OfSortKey(static_cast<int32_t>(from[i] ^ 0x80000000) ^ flip);
}

}  // namespace

opcast::Status WarpBitonicSort(const WarpBitonicSortArgs& args, const opcast::Launch& launch) {
  const int64_t n = args.L;
  const int32_t flip = SortFlip(args.is_descending);
  const auto rows = [&args, n, flip](int64_t begin, int64_t end, auto width) {
    constexpr int64_t kLanes = Lanes<width>::kCount;
    const bool together = n <= (4 * (end - begin) >= kLanes ? kShort : kVeryShort);
    const FloatSpace space(together ? (n + kLanes) * kLanes : 2 * n);
    for (int64_t i = begin; i < end; i += together ? kLanes : 1) {
      if (together)
        SortTogether<width>(args.x + i * n, std::min(kLanes, end - i), n, flip, space.Floats(),
                            args.y + i * n);
      else
        SortRow(args.x + i * n, n, flip, space.Floats(), args.y + i * n);
    }
  };
  opcast::ParallelFor(launch, args.batch, RowsPerChunk(n), rows);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
