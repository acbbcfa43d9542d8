// The inner kernels of gemm and of its gradients: products of float matrices.
//
// An element of the product is a sum over the depth whose order depends on the depth only. So its
// bits depend neither on the shape of the tile that computes it, nor on its place in the tile, nor
// on the width of the vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "rows.h"

namespace opcast_ops {

// A matrix of floats with contiguous rows.
struct FloatRows {
  const float* data;
  int64_t stride;
};

constexpr int kLanes = 16;

// A vector of kWidth bytes. Only used in place: passing one to a function would depend on the
// compiler's target.
template <int kWidth>
using Vector __attribute__((vector_size(kWidth), aligned(alignof(float)), may_alias)) = float;

// How many rows of a and of b make a tile: as many as their sums fit into the vector registers.
template <int kWidth>
struct TileShape {
  static constexpr int kM = kWidth == 64 ? 4 : kWidth == 32 ? 2 : 1;
  static constexpr int kN = kWidth == 64 ? 4 : 3;
};

template <int kWidth, size_t... kIndex>
inline void AddProducts(const float* const* a, const float* const* b, int64_t k,
                        Vector<kWidth>* sums, std::index_sequence<kIndex...>) {
  constexpr int kParts = kLanes * sizeof(float) / kWidth, kFloats = kWidth / sizeof(float);
  constexpr int kN = TileShape<kWidth>::kN;
  ((sums[kIndex] += *reinterpret_cast<const Vector<kWidth>*>(a[kIndex / kParts / kN] + k +
                                                             kIndex % kParts * kFloats) *
                    *reinterpret_cast<const Vector<kWidth>*>(b[kIndex / kParts % kN] + k +
                                                             kIndex % kParts * kFloats)),
   ...);
}

// x and y, one after the other, are groups of kGroup lanes: adds the halves of each.
template <int kWidth, int kGroup, size_t... kIndex>
inline void AddHalves(const Vector<kWidth>& x, const Vector<kWidth>& y, Vector<kWidth>* sums,
                      std::index_sequence<kIndex...>) {
  constexpr int kHalf = kGroup / 2;
#if defined(__clang__)
  *sums =
      __builtin_shufflevector(x, y, static_cast<int>(kIndex / kHalf * kGroup + kIndex % kHalf)...) +
      __builtin_shufflevector(
          x, y, static_cast<int>(kIndex / kHalf * kGroup + kIndex % kHalf + kHalf)...);
#else
  using Places __attribute__((vector_size(kWidth))) = int;
  *sums = __builtin_shuffle(x, y,
                            Places{static_cast<int>(kIndex / kHalf * kGroup + kIndex % kHalf)...}) +
          __builtin_shuffle(
              x, y, Places{static_cast<int>(kIndex / kHalf * kGroup + kIndex % kHalf + kHalf)...});
#endif
}

// Adds up each of kCount groups of kGroup lanes pairwise, lane l and l + kGroup / 2 first. The sums
// are then the first lanes of `lanes`.
template <int kWidth, int kCount, int kGroup>
inline void AddLanes(Vector<kWidth>* lanes) {
  constexpr int kFloats = kWidth / sizeof(float);
  if constexpr (kGroup > kFloats) {
    constexpr int kHalf = kGroup / kFloats / 2;
    for (int i = 0; i < kCount; ++i) {
      for (int p = 0; p < kHalf; ++p)
        lanes[i * kHalf + p] = lanes[2 * i * kHalf + p] + lanes[(2 * i + 1) * kHalf + p];
    }
    AddLanes<kWidth, kCount, kGroup / 2>(lanes);
  } else if constexpr (kGroup > 1) {
    constexpr int kVectors = (kCount * kGroup + kFloats - 1) / kFloats;
    for (int i = 0; i < kVectors; i += 2) {
      AddHalves<kWidth, kGroup>(lanes[i], lanes[i + 1 < kVectors ? i + 1 : i], &lanes[i / 2],
                                std::make_index_sequence<kFloats>());
    }
    AddLanes<kWidth, kCount, kGroup / 2>(lanes);
  }
}

// Term k of a sum goes to lane k % 16, and the lanes are added pairwise.
//
// Adds the products of `rows` rows of a with `columns` rows of b, at most a tile of them, to sums.
template <int kWidth>
inline void AddTile(FloatRows a, int64_t rows, FloatRows b, int64_t columns, int64_t depth,
                    float* sums, int64_t stride) {
  constexpr int kM = TileShape<kWidth>::kM, kN = TileShape<kWidth>::kN;
  constexpr int kParts = kLanes * sizeof(float) / kWidth;
  constexpr auto kAll = std::make_index_sequence<kM * kN * kParts>();
  // Rows that are not there repeat the last one; their sums are dropped.
  const float *a_rows[kM], *b_rows[kN];
  for (int i = 0; i < kM; ++i) a_rows[i] = a.data + std::min<int64_t>(i, rows - 1) * a.stride;
  for (int j = 0; j < kN; ++j) b_rows[j] = b.data + std::min<int64_t>(j, columns - 1) * b.stride;
  Vector<kWidth> lanes[kM * kN * kParts] = {};
  int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) AddProducts<kWidth>(a_rows, b_rows, k, lanes, kAll);
  if (k < depth) {
    float a_rest[kM][kLanes] = {}, b_rest[kN][kLanes] = {};
    for (int i = 0; i < kM; ++i) {
      std::copy(a_rows[i] + k, a_rows[i] + depth, a_rest[i]);
      a_rows[i] = a_rest[i];
    }
    for (int j = 0; j < kN; ++j) {
      std::copy(b_rows[j] + k, b_rows[j] + depth, b_rest[j]);
      b_rows[j] = b_rest[j];
    }
    AddProducts<kWidth>(a_rows, b_rows, 0, lanes, kAll);
  }
  AddLanes<kWidth, kM * kN, kLanes>(lanes);
  float totals[kM * kN];
  __builtin_memcpy(totals, lanes, sizeof totals);
  for (int i = 0; i < kM && i < rows; ++i) {
    for (int j = 0; j < kN && j < columns; ++j) sums[i * stride + j] += totals[i * kN + j];
  }
}

// How many rows and vectors of columns make a tile of a sum of outer products.
template <int kWidth>
struct OuterShape {
  static constexpr int kM = 4, kVectors = kWidth == 64 ? 4 : 2;
  static constexpr int kColumns = kVectors * kWidth / sizeof(float);
};

template <int kWidth, size_t... kIndex>
inline void AddOuterProduct(const float* const* a, const float* b, Vector<kWidth>* sums,
                            std::index_sequence<kIndex...>) {
  constexpr int kVectors = OuterShape<kWidth>::kVectors, kFloats = kWidth / sizeof(float);
  ((sums[kIndex] += *reinterpret_cast<const Vector<kWidth>*>(b + kIndex % kVectors * kFloats) *
                    *a[kIndex / kVectors]),
   ...);
}

// A matrix of floats with its elements anywhere: row i, column k at data[i * row + k * column].
struct FloatMatrix {
  const float* data;
  int64_t row, column;
};

// Adds the products of `rows` rows of a, at most a tile of them, with a tile of columns of b to
// sums: a is rows by depth, b is depth by kColumns. Terms are added in order.
template <int kWidth>
inline void AddOuterTile(FloatMatrix a, int64_t rows, FloatRows b, int64_t depth, float* sums,
                         int64_t stride) {
  using Shape = OuterShape<kWidth>;
  constexpr int kCount = Shape::kM * Shape::kVectors, kFloats = kWidth / sizeof(float);
  const float* a_rows[Shape::kM];
  for (int i = 0; i < Shape::kM; ++i) a_rows[i] = a.data + std::min<int64_t>(i, rows - 1) * a.row;
  Vector<kWidth> terms[kCount] = {};
  for (int64_t k = 0; k < depth; ++k) {
    AddOuterProduct<kWidth>(a_rows, b.data + k * b.stride, terms,
                            std::make_index_sequence<kCount>());
    for (int i = 0; i < Shape::kM; ++i) a_rows[i] += a.column;
  }
  for (int i = 0; i < Shape::kM && i < rows; ++i) {
    for (int v = 0; v < Shape::kVectors; ++v) {
      *reinterpret_cast<Vector<kWidth>*>(sums + i * stride + v * kFloats) +=
          terms[i * Shape::kVectors + v];
    }
  }
}

}  // namespace opcast_ops
