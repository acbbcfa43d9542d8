// Rows of gates and of as many values behind them: y[i, j] = gate(x[i, j]) * x[i, D + j].
//
// A form of a gate has, for results of T: Of<kWidth, T>(gate, value) in float; IsOrdinary<T>(gate,
// value), which says where that holds; and Wide<kWidth>(gate, value) in double for the others, or
// for all where kAlwaysWide<T>. All but the last may be static.
#pragma once

#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "opcast/kernel.h"

namespace opcast_ops {

template <int kWidth, class Form, class T>
inline void GateRow(const Form& form, const T* gates, const T* values, int64_t n, T* y) {
  const auto wide = [form](double gate, double value) {
    return form.template Wide<kWidth>(gate, value);
  };
  if constexpr (Form::template kAlwaysWide<T>) {
    Map<kWidth>(n, wide, y, gates, values);
  } else {
    const auto of = [form](float gate, float value) {
      return form.template Of<kWidth, T>(gate, value);
    };
    const auto is_ordinary = [form](float gate, float value) {
      return form.template IsOrdinary<T>(gate, value);
    };
    MapEither<kWidth>(n, of, is_ordinary, wide, y, gates, values);
  }
}

template <class Form, class A>
inline opcast::Status GateRows(const A& a, const opcast::Launch& launch) {
  const int64_t n = a.D;
  const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      const auto* gates = a.x + i * 2 * n;
      GateRow<width>(Form(), gates, gates + n, n, a.y + i * n);
    }
  };
  opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
