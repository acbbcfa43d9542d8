// Factors of a matrix product, and how parts of them are packed for the inner kernel.
//
// A packed block has its rows in groups, and in a group the vectors that meet at once lie side by
// side: vector s of row r is vector (r / group * steps + s) * group + r % group. What is missing of
// the last vectors is zero; rows that are missing of the last group repeat the last row, and nobody
// reads their sums. Numbers of 16 bits are packed as floats.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/gemm_tile.h"

namespace opcast_ops {

constexpr int kStripVectors = 2;  // of a strip: see gemm_outer_product.h

// The dtypes that factors may have.
template <class T>
constexpr bool kIsFactor =
    std::is_same_v<T, float> || std::is_same_v<T, opcast::f16> || std::is_same_v<T, opcast::bf16>;

// Makes the lines across the depth of a factor that does not lie in memory as such.
class LineMaker {
 public:
  static constexpr int64_t kMostRows = 128, kRoom = kMostRows + 32;

  // The elements of rows `row` to row + rows, at most kMostRows, at place `line` of the depth:
  // where they lie one after the other, or a copy in `space`, which has room for kRoom.
  virtual const void* Line(int64_t line, int64_t row, int64_t rows, void* space) = 0;

 protected:
  ~LineMaker() = default;
};

struct Part;

// Packs a factor across the depth that does not lie in memory, as pairs of bfloat16: see
// gemm_outer_product.h.
class StripMaker {
 public:
  // Packs a part in strips, with zeros where vectors reach beyond its rows.
  virtual void Pack(const Part& part, float* to) const = 0;

 protected:
  ~StripMaker() = default;
};

// One factor of a product: rows whose elements are summed over along the depth.
//
// It lies in memory as lines of contiguous elements, either along the depth, a line for each row,
// or across it, a line for each place along the depth that has an element of each row.
struct Factor {
  opcast::DType type;
  const void* data;
  int64_t stride;  // elements from one line to the next
  bool along = true;
  // Where lines are counted through several matrices: where each begins, and how many it has.
  const opcast::Layout* layout = nullptr;
  int64_t per_matrix = 0;
  int64_t first = 0;  // the line that counts as the first one
  LineMaker* maker = nullptr;
  const StripMaker* strips = nullptr;
  // Of a right factor that lies along the depth: to multiply as if it lay across it. This is faster
  // where many rows meet a short depth, since no lanes are added up, and slower for a few: who
  // needs the same bits for every number of rows has to choose.
  bool turned = false;

  // Element offset of a line.
  int64_t Offset(int64_t line) const {
    line += first;
    if (layout == nullptr) return line * stride;
    return layout->Batch(line / per_matrix) + line % per_matrix * stride;
  }

  // A line across the depth, from row `row` on.
  template <class T>
  const T* Across(int64_t line, int64_t row, int64_t rows, T* space) const {
    if (maker != nullptr) return static_cast<const T*>(maker->Line(line, row, rows, space));
    return static_cast<const T*>(data) + Offset(line) + row;
  }
};

// A part of a factor: `rows` rows from `row` on, and `depth` places from `k` on.
struct Part {
  int64_t row, rows, k, depth;
};

// Vectors that so many places of the depth fill.
template <int kWidth, class Element>
inline int64_t Steps(int64_t depth) {
  constexpr int64_t kNumbers = TileShape<kWidth>::kLanes * Element::kPerLane;
  return (depth + kNumbers - 1) / kNumbers;
}

template <int kWidth, class Element, class T>
inline void PackAlong(const Factor& factor, const Part& part, int64_t group, float* to) {
  constexpr int64_t kLanes = TileShape<kWidth>::kLanes, kNumbers = kLanes * Element::kPerLane;
  const int64_t steps = Steps<kWidth, Element>(part.depth);
  const int64_t padded = (part.rows + group - 1) / group * group;
  for (int64_t r = 0; r < padded; ++r) {
    const int64_t row = part.row + std::min(r, part.rows - 1);
    const T* from = static_cast<const T*>(factor.data) + factor.Offset(row) + part.k;
    float* at = to + (r / group * steps * group + r % group) * kLanes;
    int64_t left = part.depth;
    for (; left >= kNumbers; left -= kNumbers, from += kNumbers, at += group * kLanes)
      Element::template Copy<kWidth>(from, kNumbers, at);
    if (left > 0) Element::template Copy<kWidth>(from, left, at);
  }
}

// Swaps the lanes of pairs of vectors, so that a square of 2 * kHalf of them is transposed if its
// quarters were.
template <int kWidth, int kHalf, size_t... kIndex>
inline void SwapHalves(Vector<kWidth>* x, Vector<kWidth>* y, std::index_sequence<kIndex...>) {
  constexpr int kLanes = TileShape<kWidth>::kLanes;
  const Vector<kWidth> first = *x, second = *y;
#if defined(__clang__)
  *x = __builtin_shufflevector(
      first, second, static_cast<int>(kIndex & kHalf ? kLanes + kIndex - kHalf : kIndex)...);
  *y = __builtin_shufflevector(
      first, second, static_cast<int>(kIndex & kHalf ? kLanes + kIndex : kIndex + kHalf)...);
#else
  using Places __attribute__((vector_size(kWidth))) = int;
  *x = __builtin_shuffle(
      first, second,
      Places{static_cast<int>(kIndex & kHalf ? kLanes + kIndex - kHalf : kIndex)...});
  *y = __builtin_shuffle(
      first, second,
      Places{static_cast<int>(kIndex & kHalf ? kLanes + kIndex : kIndex + kHalf)...});
#endif
}

template <int kWidth, int kHalf, size_t... kPair>
inline void TransposeStage(Vector<kWidth>* lines, std::index_sequence<kPair...>) {
  (SwapHalves<kWidth, kHalf>(&lines[kPair / kHalf * 2 * kHalf + kPair % kHalf],
                             &lines[kPair / kHalf * 2 * kHalf + kPair % kHalf + kHalf],
                             std::make_index_sequence<TileShape<kWidth>::kLanes>()),
   ...);
}

// Transposes a square of as many vectors as a vector has lanes.
template <int kWidth, int kHalf = 1>
inline void Transpose(Vector<kWidth>* lines) {
  if constexpr (kHalf < TileShape<kWidth>::kLanes) {
    TransposeStage<kWidth, kHalf>(lines, std::make_index_sequence<TileShape<kWidth>::kLanes / 2>());
    Transpose<kWidth, 2 * kHalf>(lines);
  }
}

// Transposes a square of kLanes * kPerLane lines, and stores the vectors of rows up to `rows`,
// which are `stride` floats apart.
template <int kWidth, class Element, class T, size_t... kLine>
inline void PackSquare(const T* const* lines, int64_t from, int64_t rows, int64_t stride, float* to,
                       std::index_sequence<kLine...>) {
  Vector<kWidth> square[TileShape<kWidth>::kLanes];
  (Element::template CopyLines<kWidth>(lines + kLine * Element::kPerLane, from, &square[kLine]),
   ...);
  Transpose<kWidth>(square);
  const auto store = [&](int64_t r, const Vector<kWidth>& vector) {
    if (r < rows) *reinterpret_cast<Vector<kWidth>*>(to + r * stride) = vector;
  };
  (store(static_cast<int64_t>(kLine), square[kLine]), ...);
}

// Packs rows that lie across the depth, each a group of its own.
template <int kWidth, class Element, class T>
inline void PackAcross(const Factor& factor, const Part& part, float* to) {
  constexpr int64_t kLanes = TileShape<kWidth>::kLanes, kLines = kLanes * Element::kPerLane;
  constexpr auto kAllLines = std::make_index_sequence<kLanes>();
  const int64_t stride = Steps<kWidth, Element>(part.depth) * kLanes;
  for (int64_t k = 0; k < part.depth; k += kLines, to += kLanes) {
    const int64_t count = std::min(kLines, part.depth - k);
    const T* lines[kLines];
    T made[kLines][LineMaker::kRoom];
    for (int64_t l = 0; l < count; ++l)
      lines[l] = factor.Across(part.k + k + l, part.row, part.rows, made[l]);
    int64_t r = 0;
    for (; count == kLines && r + kLanes <= part.rows; r += kLanes)
      PackSquare<kWidth, Element>(lines, r, kLanes, stride, to + r * stride, kAllLines);
    for (; r < part.rows; r += kLanes) {  // a square with zeros where there is nothing
      T rest[kLines][kLanes] = {};
      const int64_t rows = std::min(part.rows - r, kLanes);
      const T* at[kLines];
      for (int64_t l = 0; l < kLines; ++l) {
        if (l < count) std::copy_n(lines[l] + r, rows, rest[l]);
        at[l] = rest[l];
      }
      PackSquare<kWidth, Element>(at, 0, rows, stride, to + r * stride, kAllLines);
    }
  }
}

// Calls f with a zero of the dtype's C++ type.
template <class F>
inline void VisitFactor(opcast::DType type, F f) {
  if (type == opcast::DType::kF32) return f(0.0f);
  if (type == opcast::DType::kF16) return f(opcast::f16());
  f(opcast::bf16());
}

// Calls f with a zero of the type that an Element is made from.
template <class Element, class F>
inline void VisitSource(opcast::DType type, F f) {
  if constexpr (Element::kPerLane > 1) {
    f(opcast::bf16());
  } else {
    VisitFactor(type, f);
  }
}

}  // namespace opcast_ops
