// The inner kernel of matrix products: a few packed rows times a few others.
//
// Both factors are rows whose elements meet along the depth (gemm_outer_product.h is for a factor
// that lies across it): element (i, j) is the sum over k of a[i][k] * b[j][k]. Terms go to the
// lanes of a vector in turns, and the lanes are added pairwise at the end of a panel of the depth
// (see gemm_blocks.h). So the order of a sum depends on the depth only: not on the shape of the
// tile that computes it, nor on its place in the tile, nor on how many rows there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cpu/lib/gemm_lanes.h"

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

// A group of rows as they lie in memory, numbers of T, the same distance apart. With kAsk, what
// will be read `ahead` numbers further on is asked for early: machines do so by themselves only
// after some accesses to each page of a row.
template <int kWidth, int kGroup, class T, bool kAsk>
class PlainRows {
 public:
  PlainRows(const T* first, int64_t stride) : first_(first), stride_(stride) {}

  const T* Row(int row) const { return first_ + row * stride_; }

  template <class Element>
  void Load(int row, Vector<kWidth>* to) const {
    const T* const from = Row(row);
    if constexpr (kAsk) __builtin_prefetch(from + ahead_, 0, kFirstLevel);
    Element::template Copy<kWidth>(from, kLanes * Element::kPerLane, reinterpret_cast<float*>(to));
  }
  template <class Element>
  void Next() {
    Skip(kLanes * Element::kPerLane);
    // Else compilers count with a pointer for each row, more than there are registers.
    __asm__("" : "+r"(first_));
  }

  void Skip(int64_t numbers) { first_ += numbers; }
  void LookAhead(int64_t numbers) { ahead_ = numbers; }

 private:
  static constexpr int kLanes = TileShape<kWidth>::kLanes;
  static constexpr int kFirstLevel = 3;  // of the caches

  const T* first_;
  int64_t stride_;
  int64_t ahead_ = 0;
};

template <class Element, int kM, int kN, int kWidth, class A, class B, size_t... kIndex>
inline void AddProducts(const A& a, const B& b, Vector<kWidth>* sums,
                        std::index_sequence<kIndex...>) {
  Vector<kWidth> left[kM], right[kN];
  for (int i = 0; i < kM; ++i) a.template Load<Element>(i, &left[i]);
  for (int j = 0; j < kN; ++j) b.template Load<Element>(j, &right[j]);
  (Element::template Multiply<kWidth>(left[kIndex / kN], right[kIndex % kN], &sums[kIndex]), ...);
}

// Sums of a tile: of the products of kM rows of a with kN rows of b.
template <int kM, int kN>
struct Totals {
  float all[kM * kN];

  // Adds them to sums, in columns so far apart.
  void AddTo(int64_t rows, int64_t columns, float* sums, int64_t stride, int64_t apart = 1) const {
    constexpr int kAtOnce = 4;
    if (kN % kAtOnce == 0 && rows >= kM && columns >= kN && apart == 1) {
      for (int t = 0; t < kM * kN; t += kAtOnce) {
        *reinterpret_cast<Vector<16>*>(sums + t / kN * stride + t % kN) +=
            *reinterpret_cast<const Vector<16>*>(all + t);
      }
      return;
    }
    for (int i = 0; i < kM && i < rows; ++i) {
      for (int j = 0; j < kN && j < columns; ++j) sums[i * stride + j * apart] += all[i * kN + j];
    }
  }
};

// The same in lanes, while products are added.
template <int kWidth, int kM, int kN>
class Tile {
  // Places in lanes_ are constants, so that compilers keep them in registers.
  static constexpr auto kAllSums = std::make_index_sequence<kM * kN>();

 public:
  Tile() { Clear(kAllSums); }

  // Adds the products of so many steps of the depth.
  template <class Element = Singles, class A, class B>
  void Add(A a, B b, int64_t steps) {
    Vector<kWidth> lanes[kM * kN];  // compilers keep these in registers all the time
    Copy(lanes_, lanes, kAllSums);
    for (; steps > 0; --steps, a.template Next<Element>(), b.template Next<Element>())
      AddProducts<Element, kM, kN, kWidth>(a, b, lanes, kAllSums);
    Copy(lanes, lanes_, kAllSums);
  }

  // Adds up the lanes.
  void AddUp(Totals<kM, kN>* totals) {
    AddLanes<kWidth, kM * kN, TileShape<kWidth>::kLanes>(lanes_);
    std::memcpy(totals->all, lanes_, sizeof totals->all);
  }

 private:
  template <size_t... kIndex>
  void Clear(std::index_sequence<kIndex...>) {
    ((lanes_[kIndex] = Vector<kWidth>{}), ...);
  }
  template <size_t... kIndex>
  static void Copy(const Vector<kWidth>* from, Vector<kWidth>* to, std::index_sequence<kIndex...>) {
    ((to[kIndex] = from[kIndex]), ...);
  }

  Vector<kWidth> lanes_[kM * kN];
};

}  // namespace opcast_ops
