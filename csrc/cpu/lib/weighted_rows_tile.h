// The inner kernel of sums of weighted rows: sums[i][j] = the sum over r of weights[i][r] *
// rows[r][j].
//
// A tile of sums stays in registers while rows go by, each times one weight per row of the tile.
// Rows are added in order, so bits depend neither on the tile nor on the place in it.
#pragma once

#include "cpu/lib/gemm_tile.h"

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

// How weights lie in memory: one for each row that is added.
struct OneByOne {
  template <int kWidth>
  static void Load(const float* weights, int64_t r, Vector<kWidth>* to) {
    Fill(weights[r], to);
  }
};

// Adds a row, times the weights at kRow, to sums.
template <int kWidth, class Element, class Layout, size_t... kRow, size_t... kPart,
          size_t... kIndex>
inline void AddWeightedRow(const float* const* weights, int64_t r, const float* row,
                           Vector<kWidth>* sums, std::index_sequence<kRow...>,
                           std::index_sequence<kPart...>, std::index_sequence<kIndex...>) {
  constexpr int kVectors = sizeof...(kPart), kLanes = TileShape<kWidth>::kLanes;
  Vector<kWidth> weight[sizeof...(kRow)];
  (Layout::template Load<kWidth>(weights[kRow], r, &weight[kRow]), ...);
  const Vector<kWidth> part[] = {*reinterpret_cast<const Vector<kWidth>*>(row + kPart * kLanes)...};
  (Element::template Multiply<kWidth>(weight[kIndex / kVectors], part[kIndex % kVectors],
                                      &sums[kIndex]),
   ...);
}

// Sums of kM rows and kVectors vectors.
template <int kWidth, int kM, int kVectors>
class SpreadTile {
 public:
  static constexpr int kLanes = TileShape<kWidth>::kLanes;

  // Adds `count` rows, which are row_stride floats apart. weights are kM pointers to as many.
  template <class Element = Singles, class Layout = OneByOne>
  void Add(const float* const* weights, const float* rows, int64_t row_stride, int64_t count) {
    for (int64_t r = 0; r < count; ++r, rows += row_stride)
      AddWeightedRow<kWidth, Element, Layout>(weights, r, rows, sums_,
                                              std::make_index_sequence<kM>(),
                                              std::make_index_sequence<kVectors>(), kAll);
  }

  // Adds them to others.
  void AddTo(float* sums, int64_t stride) const { AddEach(sums, stride, kAll); }

  // The same, each row times a factor, to which factors has a pointer.
  template <class Layout>
  void AddTo(float* sums, int64_t stride, const float* const* factors) const {
    AddEachTimes<Layout>(sums, stride, factors, kAll);
  }

  // Whether all bits are set in what test(row, sums) returns for each of its vectors.
  template <class Test>
  bool All(Test test) const {
    return AllOf(test, kAll);
  }

  void Store(Vector<kWidth>* to) const { CopyEach(sums_, to, kAll); }
  void Load(const Vector<kWidth>* from) { CopyEach(from, sums_, kAll); }

 private:
  static constexpr auto kAll = std::make_index_sequence<kM * kVectors>();

  template <size_t... kIndex>
  void AddEach(float* sums, int64_t stride, std::index_sequence<kIndex...>) const {
    ((*reinterpret_cast<Vector<kWidth>*>(sums + kIndex / kVectors * stride +
                                         kIndex % kVectors * kLanes) += sums_[kIndex]),
     ...);
  }

  template <class Layout>
  static void AddOne(const float* factor, const Vector<kWidth>& sum, float* to) {
    Vector<kWidth> factors;
    Layout::template Load<kWidth>(factor, 0, &factors);
    MultiplyAdd(factors, sum, reinterpret_cast<Vector<kWidth>*>(to));
  }
  template <class Layout, size_t... kIndex>
  void AddEachTimes(float* sums, int64_t stride, const float* const* factors,
                    std::index_sequence<kIndex...>) const {
    (AddOne<Layout>(factors[kIndex / kVectors], sums_[kIndex],
                    sums + kIndex / kVectors * stride + kIndex % kVectors * kLanes),
     ...);
  }

  template <size_t... kIndex>
  static void CopyEach(const Vector<kWidth>* from, Vector<kWidth>* to,
                       std::index_sequence<kIndex...>) {
    ((to[kIndex] = from[kIndex]), ...);
  }

  template <class Test, size_t... kIndex>
  bool AllOf(Test test, std::index_sequence<kIndex...>) const {
    const auto all = (test(kIndex / kVectors, sums_[kIndex]) & ...);
    return static_cast<decltype(test(0, sums_[0]))>(~all) == 0;
  }

  Vector<kWidth> sums_[kM * kVectors] = {};
};

}  // namespace opcast_ops
