// The inner kernel of matrix products: a few packed rows times a few others.
//
// All products of the collection's kernels have both factors as rows whose elements meet along the
// depth: element (i, j) is the sum over k of a[i][k] * b[j][k]. Term k goes to lane k % kLanes of a
// vector, and the lanes are added pairwise at the end of a panel of the depth (see product.h). So
// the order of a sum depends on the depth only: not on the shape of the tile that computes it, nor
// on its place in the tile, nor on how many rows there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "product_element.h"

namespace opcast_ops {

// How many rows of both factors make a tile: as many as their sums fit into the vector registers.
template <int kWidth>
struct TileShape {
  static constexpr int kLanes = kWidth / static_cast<int>(sizeof(float));
  static constexpr int kM = kWidth == 64 ? 4 : 3, kN = 4;
};

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

template <int kWidth, int kGroup, int kCount, size_t... kIndex>
inline void AddAllHalves(Vector<kWidth>* lanes, std::index_sequence<kIndex...>) {
  (AddHalves<kWidth, kGroup>(lanes[2 * kIndex],
                             lanes[2 * kIndex + 1 < kCount ? 2 * kIndex + 1 : 2 * kIndex],
                             &lanes[kIndex], std::make_index_sequence<kWidth / sizeof(float)>()),
   ...);
}

// Adds up each of kCount groups of kGroup lanes pairwise, lane l and l + kGroup / 2 first. The sums
// are then the first lanes of `lanes`.
template <int kWidth, int kCount, int kGroup>
inline void AddLanes(Vector<kWidth>* lanes) {
  constexpr int kLanes = TileShape<kWidth>::kLanes;
  if constexpr (kGroup > 1) {
    constexpr int kVectors = (kCount * kGroup + kLanes - 1) / kLanes;
    AddAllHalves<kWidth, kGroup, kVectors>(lanes, std::make_index_sequence<(kVectors + 1) / 2>());
    AddLanes<kWidth, kCount, kGroup / 2>(lanes);
  }
}

// A group of packed rows, from a step of the depth on.
template <int kWidth, int kGroup>
struct PackedRows {
  static constexpr int kLanes = TileShape<kWidth>::kLanes;

  const float* at;

  template <class Element>
  void Load(int row, Vector<kWidth>* to) const {
    *to = *reinterpret_cast<const Vector<kWidth>*>(at + row * kLanes);
  }
  template <class Element>
  void Next() {
    at += kGroup * kLanes;
  }
};

// A group of rows as they lie in memory, numbers of T.
template <int kWidth, int kGroup, class T>
struct PlainRows {
  static constexpr int kLanes = TileShape<kWidth>::kLanes;

  const T* rows[kGroup];
  int64_t k = 0;

  template <class Element>
  void Load(int row, Vector<kWidth>* to) const {
    Element::template Copy<kWidth>(rows[row] + k, kLanes * Element::kPerLane,
                                   reinterpret_cast<float*>(to));
  }
  template <class Element>
  void Next() {
    k += kLanes * Element::kPerLane;
  }
};

template <class Element, int kM, int kN, int kWidth, class A, class B, size_t... kIndex>
inline void AddProducts(const A& a, const B& b, Vector<kWidth>* sums,
                        std::index_sequence<kIndex...>) {
  Vector<kWidth> left[kM], right[kN];
  for (int i = 0; i < kM; ++i) a.template Load<Element>(i, &left[i]);
  for (int j = 0; j < kN; ++j) b.template Load<Element>(j, &right[j]);
  (Element::template Multiply<kWidth>(left[kIndex / kN], right[kIndex % kN], &sums[kIndex]), ...);
}

// Sums of the products of kM rows of a with kN rows of b.
template <int kWidth, int kM, int kN>
class Tile {
 public:
  // Adds the products of so many steps of the depth.
  template <class Element = Singles, class A, class B>
  void Add(A a, B b, int64_t steps) {
    for (; steps > 0; --steps, a.template Next<Element>(), b.template Next<Element>())
      AddProducts<Element, kM, kN, kWidth>(a, b, lanes_, kAllSums);
  }

  // Takes over the sums of another tile for which take(row, column) holds.
  template <class Take>
  void Replace(const Tile& other, Take take) {
    ReplaceEach(other, take, kAllSums);
  }

  // Adds up the lanes, and adds `rows` rows and `columns` columns of the totals to sums.
  void Finish(int64_t rows, int64_t columns, float* sums, int64_t stride) {
    AddLanes<kWidth, kM * kN, TileShape<kWidth>::kLanes>(lanes_);
    float totals[kM * kN];
    std::memcpy(totals, lanes_, sizeof totals);
    if (rows >= kM && columns >= kN) {
      constexpr int kAtOnce = 4;
      for (int t = 0; t < kM * kN; t += kAtOnce) {
        *reinterpret_cast<Vector<16>*>(sums + t / kN * stride + t % kN) +=
            *reinterpret_cast<const Vector<16>*>(totals + t);
      }
      return;
    }
    for (int i = 0; i < kM && i < rows; ++i) {
      for (int j = 0; j < kN && j < columns; ++j) sums[i * stride + j] += totals[i * kN + j];
    }
  }

 private:
  static constexpr auto kAllSums = std::make_index_sequence<kM * kN>();

  // Places in lanes_ are constants everywhere, so that compilers keep them in registers.
  template <class Take, size_t... kIndex>
  void ReplaceEach(const Tile& other, Take take, std::index_sequence<kIndex...>) {
    ((lanes_[kIndex] = take(kIndex / kN, kIndex % kN) ? other.lanes_[kIndex] : lanes_[kIndex]),
     ...);
  }

  Vector<kWidth> lanes_[kM * kN] = {};
};

}  // namespace opcast_ops
