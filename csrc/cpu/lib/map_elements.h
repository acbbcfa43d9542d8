// Functions of single elements, applied to whole stretches of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/lib/streaming_stores.h"
#include "cpu/lib/vector_lanes.h"

namespace opcast_ops {

// y[j] = f(x[j]...) for the numbers of one vector.
template <int kWidth, class F, class... Arrays>
inline void MapLanes(F f, Lanes<kWidth>* y, const Arrays&... x) {
#pragma GCC unroll 1
  for (int j = 0; j < Lanes<kWidth>::kCount; ++j)
    y->numbers[j] = static_cast<float>(f(x.numbers[j]...));
}

// The same for `n` elements of each array, fewer than a vector has: zeros take the place of the
// others, so that a number gives the same bits wherever it stands.
template <int kWidth, class Nan, class Y, class F, class... Xs>
inline void MapRest(Nan nan, int64_t n, F f, Y* y, const Xs*... x) {
  if (n == 0) return;
  Lanes<kWidth> result;
  MapLanes(f, &result, LoadSome<kWidth>(x, n)...);
  result.StoreSome(y, n, nan);
}

// How results are stored.
template <class Nan = AnyNan>
struct Stores {
  bool past = false;  // the cache: see streaming_stores.h
  Nan nan = {};       // NoNan where f makes none, Exact where nothing is rounded
};

// y[i] = f(x[i]...) for n elements, computed by f from floats, or from doubles where x has them,
// and rounded once to the type of y; all NaN become one. y may be one of x.
template <int kWidth, class Y, class F, class Nan, class... Xs>
inline void MapTo(Stores<Nan> stores, int64_t n, F f, Y* y, const Xs*... x) {
  constexpr int64_t kCount = Lanes<kWidth>::kCount;
  int64_t i = 0;
  if (stores.past) {
    i = std::min(n, BeforeStream<kWidth>(y));
    MapRest<kWidth>(stores.nan, i, f, y, x...);
  }
  for (; i + kCount <= n; i += kCount) {
    Lanes<kWidth> result;
    MapLanes(f, &result, Load<kWidth>(x + i)...);
    if (stores.past)
      Stream(result, y + i, stores.nan);
    else
      result.Store(y + i, stores.nan);
  }
  MapRest<kWidth>(stores.nan, n - i, f, y + i, x + i...);
  if (stores.past) EndStream();
}
template <int kWidth, class Y, class F, class... Xs>
inline void Map(int64_t n, F f, Y* y, const Xs*... x) {
  MapTo<kWidth>(Stores<>(), n, f, y, x...);
}

// The width of vectors, in bytes, for functions of elements of type T that take no time beside
// memory. Some machines with AVX-512 move 32 bytes at a time faster than 64.
template <int kWidth, class T>
constexpr int kWidthToMove = sizeof(T) == 4 ? std::min(kWidth, 32) : kWidth;

// MapTo for such a function. Four vectors per step, since counting and jumping would take as long
// as the work otherwise. To know where pages lie saves a tenth where a CPU does not remember them
// all: from 12 MiB per CPU on with Zen 4.
template <int kWidth, class Y, class F, class Nan, class... Xs>
inline void MoveTo(Stores<Nan> stores, int64_t n, F f, Y* y, const Xs*... x) {
  constexpr int kNarrow = kWidthToMove<kWidth, Y>;
  constexpr int64_t kCount = Lanes<kNarrow>::kCount, kStep = 4 * kCount;
  int64_t i = 0;
  for (; !stores.past && i + kStep <= n; i += kStep) {
    (FetchPage(FetchToRead, x, i), ...);
    FetchPage(FetchToWrite, y, i);
#pragma GCC unroll 4
    for (int64_t k = i; k < i + kStep; k += kCount) {
      Lanes<kNarrow> result;
      MapLanes(f, &result, Load<kNarrow>(x + k)...);
      result.Store(y + k, stores.nan);
    }
  }
  MapTo<kNarrow>(stores, n - i, f, y + i, x + i...);
}

// Whether no flag is set.
template <int kCount>
inline bool NoneOf(const int32_t (&flags)[kCount]) {
  int32_t any = 0;
  for (int j = 0; j < kCount; ++j) any |= flags[j];
  return any == 0;
}

// Whether no number is negative.
template <int kCount>
inline bool NoneNegative(const int32_t (&numbers)[kCount]) {
  int32_t any = 0;
  for (int j = 0; j < kCount; ++j) any |= numbers[j];
  return any >= 0;
}

// Whether holds(x[i]...) for all n elements. Calls each(i, lanes of x...) for every whole vector.
template <int kWidth, class Holds, class Each, class... Xs>
inline bool CheckEach(int64_t n, Holds holds, Each each, const Xs*... x) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  int32_t broken[kCount] = {};
  const auto check = [&](int64_t i, const auto&... all) {
    each(i, all...);
#pragma GCC unroll 1
    for (int j = 0; j < kCount; ++j) broken[j] |= !holds(all.numbers[j]...);
  };
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) check(i, Load<kWidth>(x + i)...);
  bool all = NoneOf(broken);
#pragma GCC unroll 1
  for (; i < n; ++i) all &= holds(static_cast<float>(x[i])...);
  return all;
}

template <int kWidth, class Holds, class... Xs>
inline bool AllOf(int64_t n, Holds holds, const Xs*... x) {
  return CheckEach<kWidth>(n, holds, [](int64_t, const auto&...) {}, x...);
}

// Map, and whether holds(x[i]...) for all n elements. f makes NaN only of others.
template <int kWidth, class F, class Holds, class Y, class... Xs>
inline bool MapAndCheck(int64_t n, F f, Holds holds, Y* y, const Xs*... x) {
  const auto map = [=](int64_t i, const auto&... all) {
    Lanes<kWidth> result;
    MapLanes(f, &result, all...);
    result.Store(y + i, NoNan());
  };
  const bool all = CheckEach<kWidth>(n, holds, map, x...);
  const int64_t whole = n - n % Lanes<kWidth>::kCount;
  MapRest<kWidth>(NoNan(), n - whole, f, y + whole, x + whole...);
  return all;
}

// f(x...) where that holds(x...), and wide(x...) elsewhere.
template <class F, class Holds, class Wide>
struct Either {
  F f;
  Holds holds;
  Wide wide;
};
template <int kWidth, class F, class Holds, class Wide, class... Arrays>
inline void MapLanes(const Either<F, Holds, Wide>& either, Lanes<kWidth>* y, const Arrays&... x) {
  MapLanes(either.f, y, x...);
#pragma GCC unroll 1
  for (int j = 0; j < Lanes<kWidth>::kCount; ++j)
    y->numbers[j] = Select(either.holds(x.numbers[j]...), y->numbers[j],
                           static_cast<float>(either.wide(x.numbers[j]...)));
}

// y[i] = f(x[i]...) where that holds(x[i]...), as in MapAndCheck, and wide(x[i]...) elsewhere.
template <int kWidth, class F, class Holds, class Wide, class Y, class... Xs>
inline void MapEither(int64_t n, F f, Holds holds, Wide wide, Y* y, const Xs*... x) {
  if (MapAndCheck<kWidth>(n, f, holds, y, x...)) return;
  Map<kWidth>(n, Either<F, Holds, Wide>{f, holds, wide}, y, x...);
}

}  // namespace opcast_ops
