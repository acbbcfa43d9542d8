// values, indices = the k largest or smallest numbers of each row of x, in order, dense. Exact:
// what is compared are ranks, see common/sort_key.h.
//
// A row is gone over once. Ranks gather in a space for about twice as many as are wanted; when it
// is full, the better half stays, and its last number is a bound for what follows. Most vectors
// have nothing beyond the bound, and take one comparison. So the time is linear in N, also where
// each number is better than those before it. For a few wanted ones, the first bound comes from the
// best numbers of 16 parts of the row: as many as are wanted are at least as good as the worst of
// the better ones among these.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>

#include "common/sort_key.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "topk.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kStep = 64;    // numbers that are compared with the bound at once
constexpr int64_t kSpare = 56;   // ranks for which there is room besides k, at least
constexpr int64_t kFew = 32;     // ranks that are sorted by counting, at most
constexpr int64_t kParts = 16;   // of a row
constexpr int64_t kScout = 256;  // numbers that the first bound comes from, at most

// A bit for each number of a vector: whether it is beyond the bound, or NaN.
template <int kWidth>
inline uint64_t BeyondLanes(const Lanes<kWidth>& x, float sign, float bound) {
  uint64_t bits = 0;
  for (int j = 0; j < x.kCount; ++j) bits |= uint64_t{!(x.numbers[j] * sign <= bound)} << j;
  return bits;
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline uint64_t BeyondLanes(const Lanes<32>& x, float sign,
                                                                 float bound) {
  const __m256 signed_x = _mm256_mul_ps(_mm256_load_ps(x.numbers), _mm256_set1_ps(sign));
  return static_cast<uint32_t>(
      _mm256_movemask_ps(_mm256_cmp_ps(signed_x, _mm256_set1_ps(bound), _CMP_NLE_UQ)));
}
__attribute__((target(OPCAST_AVX512))) inline uint64_t BeyondLanes(const Lanes<64>& x, float sign,
                                                                   float bound) {
  const __m512 signed_x = _mm512_mul_ps(_mm512_load_ps(x.numbers), _mm512_set1_ps(sign));
  return _mm512_cmp_ps_mask(signed_x, _mm512_set1_ps(bound), _CMP_NLE_UQ);
}
#endif

// The best numbers so far.
struct Best {
  uint64_t* const ranks;
  const int64_t k, room;
  int64_t count = 0;
  uint64_t least = 0;  // of k ranks; 0 before there are as many

  void Add(uint64_t rank) {
    if (rank <= least) return;
    ranks[count++] = rank;
    if (count == room) Cut();
  }

  // Leaves the k best ones, the least last. Not part of loops that vectorise, nor is the next.
  __attribute__((noinline)) void Cut() {
    std::nth_element(ranks, ranks + k - 1, ranks + count, std::greater<>());
    count = k;
    least = ranks[k - 1];
  }

  __attribute__((noinline)) void SortMany() {
    if (count > k) Cut();
    std::sort(ranks, ranks + k, std::greater<>());
  }

  // The k best ones in order. The place of a rank is how many are above it.
  void Sort() {
    if (count > kFew) return SortMany();
    uint64_t few[kFew], above[kFew] = {};
    std::fill(ranks + count, ranks + kFew, 0);
    std::memcpy(few, ranks, sizeof few);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t rank = few[i];
#pragma GCC unroll 1
      for (int64_t j = 0; j < kFew; ++j) above[j] += few[j] < rank;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (above[i] < static_cast<uint64_t>(k)) ranks[above[i]] = few[i];
    }
  }
};

// A bit for each of `count` numbers, kStep of them at most: whether it is beyond the bound, or NaN.
template <int kWidth, class T>
inline uint64_t Beyond(const T* x, int64_t count, float sign, float bound) {
  constexpr int64_t kLanes = Lanes<kWidth>::kCount;
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t some = std::min(kLanes, count - i);
    const uint64_t own = BeyondLanes(LoadSome<kWidth>(x + i, some), sign, bound);
    bits |= (own & ~(~uint64_t{1} << (some - 1))) << i;
  }
  return bits;
}

// A number that at least k of a row's first numbers are beyond, for k up to kParts; NaN if there is
// none. It is next to the k-th best of the parts' best numbers.
template <int kWidth, class T>
inline float FirstBound(const T* x, int64_t n, int64_t k, float sign) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  float best[kParts], worst = -kLowest;
  int32_t above[kParts] = {};
  std::fill_n(best, kParts, kLowest);
  for (int64_t i = 0; i + kParts <= std::min(n, kScout); i += kParts) {
    float numbers[kParts];
    Widen<kWidth>(x + i, numbers, kParts);
#pragma GCC unroll 1
    for (int64_t j = 0; j < kParts; ++j)
      best[j] = Select(numbers[j] * sign > best[j], numbers[j] * sign, best[j]);
  }
  for (int64_t i = 0; i < kParts; ++i) {
#pragma GCC unroll 1
    for (int64_t j = 0; j < kParts; ++j) above[j] += best[j] < best[i];
  }
  for (int64_t j = 0; j < kParts; ++j) worst = above[j] < k && best[j] < worst ? best[j] : worst;
  if (worst == kLowest) return std::numeric_limits<float>::quiet_NaN();
  return std::nextafter(worst, kLowest);
}

// Finds the best numbers of a row of n.
template <int kWidth, class T>
inline void Find(const T* x, int64_t n, bool largest, Best* best) {
  const float sign = largest ? 1 : -1;
  float bound = std::numeric_limits<float>::quiet_NaN();  // all are beyond it
  if (best->k <= kParts && n >= 2 * kParts) bound = FirstBound<kWidth>(x, n, best->k, sign);
  for (int64_t i = 0; i < n; i += kStep) {
    if (best->least != 0) {
      bound = sign * static_cast<float>(x[ColumnOf(best->least)]);
      if (largest && bound != bound) return;  // a later NaN is not better
    }
    uint64_t beyond = Beyond<kWidth>(x + i, std::min(kStep, n - i), sign, bound);
    for (; beyond != 0; beyond &= beyond - 1) {
      const int64_t j = i + __builtin_ctzll(beyond);
      best->Add(Rank(RankKey(static_cast<float>(x[j]), largest), j));
    }
  }
}

}  // namespace

opcast::Status Topk(const TopkArgs& args, const opcast::Launch& launch) {
  if (args.k == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const int64_t room = a.k + std::max(a.k, kSpare);
      const std::unique_ptr<uint64_t[]> ranks(new uint64_t[room]);
      for (int64_t row = begin; row < end; ++row) {
        const T* const x = a.x + row * a.N;
        const int64_t n = a.lengths ? std::clamp<int64_t>(a.lengths[row], 0, a.N) : a.N;
        T* const values = a.values + row * a.k;
        int32_t* const indices = a.indices + row * a.k;
        const int64_t k = std::min(a.k, n);
        std::fill(values + k, values + a.k, Round<T>(a.largest ? -INFINITY : INFINITY));
        std::fill(indices + k, indices + a.k, -1);
        if (k == 0) continue;
        Best best{ranks.get(), k, room};
        Find<width>(x, n, a.largest, &best);
        best.Sort();
        for (int64_t i = 0; i < k; ++i) {
          const int64_t column = ColumnOf(ranks[i]);
          values[i] = x[column];
          indices[i] = opcast::Narrow<int32_t>(column);
        }
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.N), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
