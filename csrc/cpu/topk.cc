// values, indices = the k largest or smallest numbers of each row of x, in order, dense. Exact:
// what is compared are ranks, see common/sort_key.h.
//
// A row is gone over once. Ranks gather in a space for about twice as many as are wanted; when it
// is full, the better half stays, and its last number is a bound for what follows. Most vectors
// have nothing beyond the bound, and take one comparison. So the time is linear in N, also where
// each number is better than those before it.
#include "common/standard.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "common/sort_key.h"
#include "map.h"
#include "rows.h"
#include "topk.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kStep = 64;   // numbers that are compared with the bound at once
constexpr int64_t kSpare = 56;  // ranks for which there is room besides k, at least

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

  __attribute__((noinline)) void Sort() {
    if (count > k) Cut();
    std::sort(ranks, ranks + k, std::greater<>());
  }
};

// Finds the best numbers of a row of n.
template <int kWidth, class T>
inline void Find(const T* x, int64_t n, bool largest, Best* best) {
  const float sign = largest ? 1 : -1;
  float bound = std::numeric_limits<float>::quiet_NaN();  // nothing is within it
  for (int64_t i = 0; i < n; i += kStep) {
    if (best->least != 0) {
      bound = sign * static_cast<float>(x[ColumnOf(best->least)]);
      if (largest && bound != bound) return;  // a later NaN is not better
    }
    const auto within = [sign, bound](float number) { return sign * number <= bound; };
    const int64_t count = std::min(kStep, n - i);
    if (AllOf<kWidth>(count, within, x + i)) continue;
    for (int64_t j = i; j < i + count; ++j) {
      const auto number = static_cast<float>(x[j]);
      if (!within(number)) best->Add(Rank(RankKey(number, largest), j));
    }
  }
}

}  // namespace

opcast::Status Topk(const TopkArgs& args, const opcast::Launch& launch) {
  const int64_t n = args.N, k = args.k;
  if (k == 0) return opcast::Status::Ok();
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a, n, k](int64_t begin, int64_t end, auto width) {
      const int64_t room = k + std::max(k, kSpare);
      const std::unique_ptr<uint64_t[]> ranks(new uint64_t[room]);
      for (int64_t row = begin; row < end; ++row) {
        const auto* const x = a.x + row * n;
        Best best{ranks.get(), k, room};
        Find<width>(x, n, a.largest, &best);
        best.Sort();
        for (int64_t i = 0; i < k; ++i) {
          const int64_t column = ColumnOf(ranks[i]);
          a.values[row * k + i] = x[column];
          a.indices[row * k + i] = static_cast<int32_t>(column);
        }
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
