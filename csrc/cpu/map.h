// Functions of single elements, applied to whole stretches of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "convert.h"

namespace opcast_ops {

// y[i] = f(x[0][i], x[1][i], ...) for n floats, whose rounding may follow.
template <class F, size_t... kInput>
inline void MapFloats(int64_t n, F f, float* y, const float* const* x,
                      std::index_sequence<kInput...>) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[kInput][i]...);
}

// y[i] = f(x[i]...) for n elements, computed by f from floats and rounded once to the type of y.
template <int kWidth, class Y, class T, class F, class... Xs>
inline void MapRows(int64_t n, F f, Y* y, const T* const* rows) {
  constexpr auto kAll = std::index_sequence_for<Xs...>();
  constexpr size_t kInputs = sizeof...(Xs);
  const auto rounded = [f](auto... values) { return Round<float>(f(values...)); };
  if constexpr (std::is_same_v<T, float>) {
    MapFloats(n, rounded, y, rows, kAll);
  } else {
    constexpr int64_t kTile = 16;  // elements whose floats stay in registers
    alignas(64) float result[kTile], floats[kInputs][kTile];
    const float* tiles[kInputs];
    const auto narrowed = [f](auto... values) { return static_cast<float>(f(values...)); };
    const auto tile = [&](int64_t i, auto count) {
      for (size_t k = 0; k < kInputs; ++k) {
        Widen<kWidth>(rows[k] + i, floats[k], count);
        tiles[k] = floats[k];
      }
      if constexpr (std::is_same_v<Y, float>) {
        MapFloats(count, rounded, y + i, tiles, kAll);
      } else {
        MapFloats(count, narrowed, result, tiles, kAll);
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

}  // namespace opcast_ops
