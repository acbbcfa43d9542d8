// The inner kernel of sums of weighted rows: sums[i][j] += the sum over r of weights[i][r] *
// rows[r][j].
//
// A tile of sums stays in registers while rows go by, each times one weight per row of the tile.
// Rows are added in order, so bits depend neither on the tile nor on the place in it.
#pragma once

#include "product_tile.h"

namespace opcast_ops {

// How many rows and vectors of sums make a tile.
template <int kWidth>
struct SpreadShape {
  static constexpr int kM = 4, kVectors = kWidth == 64 ? 4 : 2;
  static constexpr int kColumns = kVectors * TileShape<kWidth>::kLanes;
};

// Fills a vector with one number.
inline void Fill(float x, Vector<16>* to) { *to = Vector<16>{x, x, x, x}; }
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void Fill(float x, Vector<32>* to) {
  *to = _mm256_set1_ps(x);
}
__attribute__((target(OPCAST_AVX512))) inline void Fill(float x, Vector<64>* to) {
  *to = _mm512_set1_ps(x);
}
#endif

// Adds a row, times the weights at kRow, to sums.
template <int kWidth, size_t... kRow, size_t... kPart, size_t... kIndex>
inline void AddWeightedRow(const float* const* weights, const float* row, Vector<kWidth>* sums,
                           std::index_sequence<kRow...>, std::index_sequence<kPart...>,
                           std::index_sequence<kIndex...>) {
  constexpr int kVectors = sizeof...(kPart), kLanes = TileShape<kWidth>::kLanes;
  Vector<kWidth> weight[sizeof...(kRow)];
  (Fill(*weights[kRow], &weight[kRow]), ...);
  const Vector<kWidth> part[] = {*reinterpret_cast<const Vector<kWidth>*>(row + kPart * kLanes)...};
  (MultiplyAdd(part[kIndex % kVectors], weight[kIndex / kVectors], &sums[kIndex]), ...);
}

// Adds `count` rows to a tile of sums. Rows are row_stride floats apart, weights of one row of the
// tile are contiguous, and their beginnings weight_stride apart.
template <int kWidth, size_t... kIndex>
inline void AddWeightedRows(const float* weights, int64_t weight_stride, const float* rows,
                            int64_t row_stride, int64_t count, float* sums, int64_t sum_stride,
                            std::index_sequence<kIndex...> all) {
  using Shape = SpreadShape<kWidth>;
  constexpr int kVectors = Shape::kVectors, kLanes = TileShape<kWidth>::kLanes;
  const float* at[Shape::kM];
  for (int i = 0; i < Shape::kM; ++i) at[i] = weights + i * weight_stride;
  Vector<kWidth>* const places[] = {reinterpret_cast<Vector<kWidth>*>(
      sums + kIndex / kVectors * sum_stride + kIndex % kVectors * kLanes)...};
  Vector<kWidth> tile[] = {*places[kIndex]...};
  for (int64_t r = 0; r < count; ++r, rows += row_stride) {
    AddWeightedRow<kWidth>(at, rows, tile, std::make_index_sequence<Shape::kM>(),
                           std::make_index_sequence<kVectors>(), all);
    for (int i = 0; i < Shape::kM; ++i) ++at[i];
  }
  ((*places[kIndex] = tile[kIndex]), ...);
}

}  // namespace opcast_ops
