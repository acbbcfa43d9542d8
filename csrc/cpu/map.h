// Functions of single elements, applied to whole stretches of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "convert.h"

namespace opcast_ops {

// f of element i, where f may also take the place of the element.
template <class F, class... Xs>
inline auto Apply(F f, int64_t i, Xs... x) {
  if constexpr (std::is_invocable_v<F, int64_t, Xs...>) {
    return f(i, x...);
  } else {
    return f(x...);
  }
}

// y[i] = f(x[0][i], x[1][i], ...) for n floats that begin at place `first` and whose rounding
// follows.
template <class F, size_t... kInput>
inline void MapFloats(int64_t first, int64_t n, F f, float* y, const float* const* x,
                      std::index_sequence<kInput...>) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(first + i, x[kInput][i]...);
}

// y[i] = f(x[i]...) for n elements, computed by f from floats and rounded once to the type of y.
template <int kWidth, class Y, class T, class F, class... Xs>
inline void MapRows(int64_t n, F f, Y* y, const T* const* rows) {
  constexpr auto kAll = std::index_sequence_for<Xs...>();
  constexpr size_t kInputs = sizeof...(Xs);
  const auto rounded = [f](int64_t i, auto... x) { return Round<float>(Apply(f, i, x...)); };
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Y, float>) {
    MapFloats(0, n, rounded, y, rows, kAll);
  } else {
    constexpr int64_t kTile = 64;
    alignas(64) float result[kTile], floats[kInputs][kTile];
    const float* tiles[kInputs];
    const auto narrowed = [f](int64_t i, auto... x) {
      return static_cast<float>(Apply(f, i, x...));
    };
    const auto tile = [&](int64_t i, auto count) {
      for (size_t k = 0; k < kInputs; ++k) {
        if constexpr (std::is_same_v<T, float>) {
          tiles[k] = rows[k] + i;
        } else {
          Widen<kWidth>(rows[k] + i, floats[k], count);
          tiles[k] = floats[k];
        }
      }
      if constexpr (std::is_same_v<Y, float>) {
        MapFloats(i, count, rounded, y + i, tiles, kAll);
      } else {
        MapFloats(i, count, narrowed, result, tiles, kAll);
        Narrow<kWidth>(result, y + i, count);
      }
    };
    int64_t i = 0;
    // A number of elements that compilers know makes loops without beginning and end.
    for (; i + kTile <= n; i += kTile) tile(i, std::integral_constant<int64_t, kTile>());
    if (i < n) tile(i, n - i);
  }
}
template <int kWidth, class Y, class F, class T, class... Ts>
inline void Map(int64_t n, F f, Y* y, const T* first, const Ts*... others) {
  const T* const rows[] = {first, others...};
  MapRows<kWidth, Y, T, F, T, Ts...>(n, f, y, rows);
}

// Whether f(x[i], y[i]) holds for all n pairs of elements, as floats.
template <int kWidth, class F, class T>
inline bool AllOf(int64_t n, F f, const T* x, const T* y) {
  constexpr int64_t kTile = 64;
  alignas(64) float x_tile[kTile], y_tile[kTile];
  const auto broken = [&](int64_t i, auto count) {
    const float *left = x_tile, *right = y_tile;
    if constexpr (std::is_same_v<T, float>) {
      left = x + i, right = y + i;
    } else {
      Widen<kWidth>(x + i, x_tile, count);
      Widen<kWidth>(y + i, y_tile, count);
    }
    int32_t any = 0;
    for (int64_t j = 0; j < count; ++j) any |= !f(left[j], right[j]);
    return any;
  };
  int32_t any = 0;
  int64_t i = 0;
  for (; i + kTile <= n; i += kTile) any |= broken(i, std::integral_constant<int64_t, kTile>());
  if (i < n) any |= broken(i, n - i);
  return any == 0;
}

}  // namespace opcast_ops
