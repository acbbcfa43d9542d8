// Rows of a matrix that a list names: -1 is no row.
#pragma once

#include <cstdint>

#include "cpu/lib/row_reductions.h"
#include "cpu/lib/row_sums.h"
#include "cpu/lib/streaming_stores.h"
#include "cpu/moe/checked_float_sums.h"

namespace opcast_ops {

template <class T>
struct NamedRows {
  const T* matrix;
  int64_t columns;
  const int32_t* names;
  int64_t count;

  NamedRows<T> Of(int64_t i) const { return {matrix, columns, names + i * count, count}; }
};

// The weights of a plain sum.
struct Ones {
  float operator()(int64_t) const { return 1; }
};

// result = vectors of a sum over rows: weight(s) times the s-th row, added in order in double,
// since terms may cancel. load(row, v) gives vector v of a row.
template <int kWidth, int kVectors, class T, class Weight, class LoadFrom>
inline void SumWide(const NamedRows<T>& rows, Weight weight, LoadFrom load, Lanes<kWidth>* result) {
  WideLanes<kWidth> sums[kVectors];
  for (int64_t s = 0; s < rows.count; ++s) {
    if (rows.names[s] < 0) continue;
    const T* const row = rows.matrix + rows.names[s] * rows.columns;
    Doubles<kWidth> factor;
    factor.all = typename Doubles<kWidth>::Vector{} + double{weight(s)};
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const WideLanes<kWidth> x(load(row, v));
      MultiplyAdd(x.halves[0], factor, &sums[v].halves[0]);
      MultiplyAdd(x.halves[1], factor, &sums[v].halves[1]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) result[v] = sums[v].Narrow();
}

#if defined(__x86_64__)
// The same in float, for results of 16 bits Y, with what checked_float_sums.h needs to judge them.
template <int kWidth, int kVectors, class T, class Weight, class LoadFrom>
inline void SumShort(const NamedRows<T>& rows, Weight weight, LoadFrom load,
                     WatchedSums<kWidth>* sums) {
  for (int64_t s = 0; s < rows.count; ++s) {
    if (rows.names[s] < 0) continue;
    const T* const row = rows.matrix + rows.names[s] * rows.columns;
    Vector<kWidth> factor;
    Fill(weight(s), &factor);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) AddWatched(factor, load(row, v), &sums[v]);
  }
}

// Stores what SumShort computes, and in double what it does not suffice for: in one vector of
// several, as a rule.
template <int kWidth, int kVectors, class T, class Y, class Weight, class LoadFrom>
inline void StoreMixed(const NamedRows<T>& rows, Weight weight, LoadFrom load, Y* y) {
  constexpr int kLanes = Lanes<kWidth>::kCount;
  WatchedSums<kWidth> sums[kVectors];
  SumShort<kWidth, kVectors>(rows, weight, load, sums);
#pragma GCC unroll 1
  for (int v = 0; v < kVectors; ++v) {
    const uint32_t good = GoodLanes(sums[v], LeastSum<Y>(rows.count));
    Lanes<kWidth> mixed;
    std::memcpy(mixed.numbers, &sums[v].sum, kWidth);
    if (good != (uint32_t{1} << kLanes) - 1) {
      Lanes<kWidth> wide;
      const auto load_one = [=](const T* row, int) { return load(row, v); };
      SumWide<kWidth, 1>(rows, weight, load_one, &wide);
      for (int j = 0; j < kLanes; ++j)
        mixed.numbers[j] = Select((good >> j & 1) != 0, mixed.numbers[j], wide.numbers[j]);
    }
    mixed.Store(y + v * kLanes);
  }
}

// That, out of the way of the loops that seldom need it.
template <int kVectors, class T, class Y, class Weight, class LoadFrom>
__attribute__((noinline, flatten, target(OPCAST_AVX2))) void StoreMixed(
    const NamedRows<T>& rows, Weight weight, LoadFrom load, Y* y, std::integral_constant<int, 32>) {
  StoreMixed<32, kVectors>(rows, weight, load, y);
}
template <int kVectors, class T, class Y, class Weight, class LoadFrom>
__attribute__((noinline, flatten, target(OPCAST_AVX512))) void StoreMixed(
    const NamedRows<T>& rows, Weight weight, LoadFrom load, Y* y, std::integral_constant<int, 64>) {
  StoreMixed<64, kVectors>(rows, weight, load, y);
}
#endif

// What else SumRows does: it prefetches the rows of the next `ahead` names, since the CPU cannot
// guess them, and stores the sum past the cache, if wanted. EndStream must follow then.
struct Passing {
  int64_t ahead = 0;
  bool past = false;
};

// Whether sums are float where that suffices.
#if defined(__x86_64__)
template <int kWidth, class Y>
constexpr bool kShort = kWidth > 16 && sizeof(Y) == 2;
#else
template <int kWidth, class Y>
constexpr bool kShort = false;
#endif

#if defined(__x86_64__)
// The sums of all rows in float, and whether those are as good as in double.
template <int kWidth, int kVectors, class Y, class T, class Weight, class LoadFrom>
inline bool SumInFloat(const NamedRows<T>& rows, Weight weight, LoadFrom load,
                       Lanes<kWidth>* sums) {
  WatchedSums<kWidth> watched[kVectors];
  SumShort<kWidth, kVectors>(rows, weight, load, watched);
  Verdict<kWidth> verdict;
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    Judge(watched[v], LeastSum<Y>(rows.count), v == 0, &verdict);
    std::memcpy(sums[v].numbers, &watched[v].sum, kWidth);
  }
  return AllGood(verdict);
}

// The same for two rows: see AddPair.
template <int kWidth, int kVectors, class T, class Weight, class LoadFrom>
inline bool SumPair(const NamedRows<T>& rows, Weight weight, LoadFrom load, Lanes<kWidth>* sums) {
  const T *const a = rows.matrix + rows.names[0] * rows.columns, *const b =
                                                                     rows.matrix +
                                                                     rows.names[1] * rows.columns;
  Vector<kWidth> of_a, of_b, most = {};
  Fill(weight(0), &of_a);
  Fill(weight(1), &of_b);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    sums[v] = load(a, v);
    AddPair(of_a, of_b, load(b, v), &sums[v], &most);
  }
  return AllFinite(most);
}
#endif

// Stores vectors of a sum over rows, rounded once.
template <int kWidth, int kVectors, class T, class Y, class Weight, class LoadFrom>
inline void StoreSum(const NamedRows<T>& rows, Weight weight, LoadFrom load, bool past, Y* y) {
  Lanes<kWidth> sums[kVectors];
#if defined(__x86_64__)
  if constexpr (kShort<kWidth, Y>) {
    const bool pair = rows.count == 2 && rows.names[0] >= 0 && rows.names[1] >= 0;
    const bool good = pair ? SumPair<kWidth, kVectors>(rows, weight, load, sums)
                           : SumInFloat<kWidth, kVectors, Y>(rows, weight, load, sums);
    if (!good)
      return StoreMixed<kVectors>(rows, weight, load, y, std::integral_constant<int, kWidth>());
  }
#endif
  if constexpr (!kShort<kWidth, Y>) SumWide<kWidth, kVectors>(rows, weight, load, sums);
  constexpr std::conditional_t<kShort<kWidth, Y>, NoNan, AnyNan> kNan = {};
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (past)
      Stream(sums[v], y + v * Lanes<kWidth>::kCount, kNan);
    else
      sums[v].Store(y + v * Lanes<kWidth>::kCount, kNan);
  }
}

// y = the sum of weight(s) times the s-th row, added in order and rounded once.
template <int kWidth, class T, class Y, class Weight>
inline void SumRows(const NamedRows<T>& rows, Weight weight, Passing passing, Y* y) {
  constexpr int kVectors = kWidth == 64 ? 8 : 4;  // as registers have room for
  constexpr int64_t kCount = Lanes<kWidth>::kCount, kBytes = kVectors * kCount * sizeof(T);
  const bool past = passing.past && BeforeStream<kWidth>(y) == 0;
  int64_t j = 0;
  for (; j + kVectors * kCount <= rows.columns; j += kVectors * kCount) {
    for (int64_t s = rows.count; s < rows.count + passing.ahead; ++s) {
      if (rows.names[s] < 0) continue;
      const T* const next = rows.matrix + rows.names[s] * rows.columns + j;
      for (int64_t i = 0; i < kBytes; i += 64) FetchToRead(reinterpret_cast<const char*>(next) + i);
    }
    const auto load = [j](const T* row, int v) { return Load<kWidth>(row + j + v * kCount); };
    StoreSum<kWidth, kVectors>(rows, weight, load, past, y + j);
  }
  for (; j < rows.columns; j += kCount) {
    const int64_t count = std::min(kCount, rows.columns - j);
    const auto load = [j, count](const T* row, int) { return LoadSome<kWidth>(row + j, count); };
    if (count == kCount) {
      StoreSum<kWidth, 1>(rows, weight, load, false, y + j);
    } else {
      Y all[kCount];
      StoreSum<kWidth, 1>(rows, weight, load, false, all);
      std::copy_n(all, count, y + j);
    }
  }
}

// Calls SumRows for each of n tokens. The names of a token follow those of the one before it;
// weight_of(i) gives the weights of token i.
template <class T, class WeightOf>
inline opcast::Status SumTokens(const opcast::Launch& launch, const NamedRows<T>& rows, int64_t n,
                                WeightOf weight_of, T* y) {
  const int64_t columns = rows.columns;
  const bool past = PastCache(launch, y, n * columns, 1 + static_cast<int>(rows.count));
  const auto tokens = [&](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      const Passing passing{i + 1 < n ? rows.count : 0, past};
      SumRows<width>(rows.Of(i), weight_of(i), passing, y + i * columns);
    }
    if (past) EndStream();
  };
  opcast::ParallelFor(launch, n, RowsPerChunk(columns * rows.count), tokens);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
