// Products of groups of rows with matrices whose blocks have scales: a panel of each factor is made
// into floats, times its scales, and multiplied as in gemm_blocks.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cpu/lib/scaled_8_bits.h"
#include "cpu/moe/expert_layers.h"

namespace opcast_ops {

// Memory for the panels of one thread.
struct FloatPanels {
  static constexpr int64_t kStep = 16;  // numbers that are multiplied at once, the last ones, too

  alignas(64) float a[kBlockRows * kPanel + kStep];
  alignas(64) float b[kBlockColumns * kPanel + kStep];
};

// That of this thread, until it ends.
inline FloatPanels* FloatPanelsOfThread() {
  thread_local const std::unique_ptr<FloatPanels> panels(new FloatPanels);
  return panels.get();
}

// Scales of blocks of `rows` rows by `columns` columns, `across` of them side by side.
template <class S>
struct BlockScales {
  const S* scales;  // or null, for ones
  int64_t across, rows, columns;

  float At(int64_t row, int64_t column) const {
    return scales == nullptr ? 1
                             : static_cast<float>(scales[row / rows * across + column / columns]);
  }
};

// to[k] = from[k] times a scale, for n numbers of any dtype; some behind them are changed, which
// are made later.
template <int kWidth, class T>
inline void WidenTimes(const T* from, float scale, int64_t n, float* to) {
  if constexpr (kIsFactor<T>) {
    Widen<kWidth>(from, to, n);
    for (int64_t k = 0; k < n; k += FloatPanels::kStep) {
      for (int64_t i = 0; i < FloatPanels::kStep; ++i) to[k + i] *= scale;
    }
  } else {
    WidenScaled<kWidth>(from, scale, n, to);
  }
}

// Dense rows of numbers, as a factor that is made.
template <class T, class S>
struct ScaledRows {
  const T* data;
  int64_t depth;
  BlockScales<S> scales;

  // Makes places k to k + n of a row, which have one scale.
  template <int kWidth>
  void Make(int64_t row, int64_t k, int64_t n, float scale, float* to) const {
    WidenTimes<kWidth>(data + row * depth + k, scale, n, to);
  }
};

// The scales of matrices of `lines` rows and `depth` columns, in so many blocks down and across.
template <class S>
BlockScales<S> ScalesOf(const S* scales, int64_t lines, int64_t depth, int64_t down,
                        int64_t across) {
  return {scales, across, std::max<int64_t>(1, lines / down), std::max<int64_t>(1, depth / across)};
}

// Makes a part of a factor, whose row 0 is the part's first.
template <class Rows, class WidthType>
Factor MakeFloats(const Rows& factor, const Part& part, float* space, WidthType) {
  for (int64_t r = 0; r < part.rows; ++r) {
    float* to = space + r * kPanel;
    for (int64_t k = part.k, n; k < part.k + part.depth; k += n, to += n) {
      const int64_t each = factor.scales.columns;
      n = std::min((k / each + 1) * each, part.k + part.depth) - k;
      const int64_t row = part.row + r;
      factor.template Make<WidthType::value>(row, k, n, factor.scales.At(row, k), to);
    }
  }
  return {opcast::DType::kF32, space, kPanel};
}

// Calls finish as ForBlocksOfGroups does, for rows of `a` and matrices of `b`, each of which has
// `lines` rows.
template <class A, class B, class Finish>
void ForScaledGroups(const opcast::Launch& launch, const RowGroups& groups, const Blocks& like,
                     const A& a, const B& b, int64_t lines, Finish finish) {
  const auto multiply = [&](int64_t first, int64_t group, const Block& block, ProductSpace* space,
                            auto width) {
    FloatPanels* const panels = FloatPanelsOfThread();
    const Block local{0, block.rows, 0, block.columns};
    for (int64_t k = 0; k < like.Depth(); k += kPanel) {
      const int64_t places = std::min(kPanel, like.Depth() - k);
      const Factor left =
          MakeFloats(a, Part{first + block.i, block.rows, k, places}, panels->a, width);
      const Factor right =
          MakeFloats(b, Part{group * lines + block.j, block.columns, k, places}, panels->b, width);
      Multiply(left, right, local, places, space, width);
    }
  };
  ForBlocksOfGroups(launch, groups, like, multiply, finish);
}

// Rows of the hidden floats, which have no scales.
struct HiddenRows {
  const float* data;
  int64_t stride;
  BlockScales<float> scales;

  template <int kWidth>
  void Make(int64_t row, int64_t k, int64_t n, float, float* to) const {
    std::copy_n(data + row * stride + k, n, to);
  }
};

// Both products and what lies between, of rows that are grouped.
template <class Args, class Rows, class W>
void RunExperts(const Args& a, const Rows& rows, const W& w1, const W& w2,
                const opcast::Launch& launch) {
  const RowGroups experts{a.offsets, a.E};
  const int64_t all = a.N * a.k, inner = a.I;
  ForScaledGroups(launch, experts, BlocksLike(all, a.E, 2 * inner, a.D), rows, w1, 2 * inner,
                  BiasedRows{experts, a.w1_bias, 2 * inner, a.hidden});
  Gate(a, launch);
  const HiddenRows hidden{a.hidden, 2 * inner, {nullptr, 1, 1, std::max<int64_t>(1, inner)}};
  ForScaledGroups(launch, experts, BlocksLike(all, a.E, a.D, inner), hidden, w2, a.D,
                  BiasedRows{experts, a.w2_bias, a.D, a.made});
  AddUp(a, launch);
}

}  // namespace opcast_ops
