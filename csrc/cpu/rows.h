// What the kernels over rows share: chunk sizes, and reductions with a fixed order.
//
// The order depends on n only, so that vector instructions of any width do the same arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "convert.h"
#include "vector.h"

namespace opcast_ops {

// Elements that one thread takes at a time: some 10 microseconds of work.
constexpr int64_t kChunk = 1 << 15;

// Rows of n elements that make up a chunk.
inline int64_t RowsPerChunk(int64_t n) {
  return std::max<int64_t>(1, kChunk / std::max<int64_t>(1, n));
}

// Combines kLanes values pairwise, lane l with lane l + kLanes / 2, into the first.
template <int kLanes, class V, class Op>
inline V Tree(V* lanes, Op op) {
  if constexpr (kLanes > 1) {
    for (int l = 0; l < kLanes / 2; ++l) lanes[l] = op(lanes[l], lanes[l + kLanes / 2]);
    return Tree<kLanes / 2>(lanes, op);
  }
  return lanes[0];
}

// Combines term(0) ... term(n - 1), starting from `neutral`. Term i goes to lane i % 16.
template <class V, class Term, class Op>
inline V Reduce(int64_t n, V neutral, Term term, Op op) {
  constexpr int kLanes = 16;
  V lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = neutral;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] = op(lanes[l], term(i + l));
  }
  for (int l = 0; i + l < n; ++l) lanes[l] = op(lanes[l], term(i + l));
  return Tree<kLanes>(lanes, op);
}

// term(0) + ... + term(n - 1) in double.
template <class Term>
inline double Sum(int64_t n, Term term) {
  return Reduce(n, 0.0, term, [](double a, double b) { return a + b; });
}

// The lanes of a reduction of kInputs rows of floats: four of the longest vectors, whatever the
// width of these.
template <class V, int kInputs>
class Lanes {
 public:
  using Number = typename V::Number;
  static constexpr int kStep = 4 * 64 / static_cast<int>(sizeof(Number));  // that each has a lane

  explicit Lanes(Number value) { Fill(value, std::make_index_sequence<kVectors>()); }

  // Calls add(vectors of the rows, &lanes) for the n <= kStep numbers at x; `pad` stands for the
  // missing ones.
  template <class T, class Add>
  void Take(const T* const* x, int64_t n, float pad, Add add) {
    constexpr auto kAll = std::make_index_sequence<kVectors>();
    if (n >= kStep) return TakeAll(x, add, kAll);
    float spaces[kInputs][kStep];
    const float* padded[kInputs];
    for (int k = 0; k < kInputs; ++k) {
      WidenAll(x[k], spaces[k], n);
      std::fill(spaces[k] + n, spaces[k] + kStep, pad);
      padded[k] = spaces[k];
    }
    TakeAll(padded, add, kAll);
  }

  // Calls op(vector, &vector) until 16 lanes are left, lane l with l + 16 in the end, and stores
  // them.
  template <class Op>
  void Fold(Op op, Number* lanes) {
    FoldHalves<kVectors / 2>(op);
    for (int v = 0; v < kLeft; ++v) vectors_[v].Store(lanes + v * V::kCount);
  }

 private:
  static constexpr int kVectors = kStep / V::kCount, kLeft = 16 / V::kCount;

  // Places in vectors_ are constants everywhere, so that compilers keep them in registers.
  template <size_t... kIndex>
  void Fill(Number value, std::index_sequence<kIndex...>) {
    ((vectors_[kIndex].all = typename V::Vector{} + value), ...);
  }
  template <int kHalf, class Op>
  void FoldHalves(Op op) {
    if constexpr (kHalf >= kLeft) {
      FoldPairs<kHalf>(op, std::make_index_sequence<kHalf>());
      FoldHalves<kHalf / 2>(op);
    }
  }
  template <int kHalf, class Op, size_t... kIndex>
  void FoldPairs(Op op, std::index_sequence<kIndex...>) {
    (op(vectors_[kIndex + kHalf], &vectors_[kIndex]), ...);
  }

  template <class T, class Add, size_t... kIndex>
  void TakeAll(const T* const* x, Add add, std::index_sequence<kIndex...>) {
    (TakeOne<kIndex>(x, add), ...);
  }
  template <size_t kIndex, class T, class Add>
  void TakeOne(const T* const* x, Add add) {
    V loaded[kInputs];
    for (int k = 0; k < kInputs; ++k) {
      const T* const from = x[k] + kIndex * V::kCount;
      if constexpr (std::is_same_v<T, float>) {
        loaded[k].Load(from);
      } else {
        float floats[V::kCount];
        Widen<static_cast<int>(sizeof floats)>(from, floats, V::kCount);
        loaded[k].Load(floats);
      }
    }
    add(loaded, &vectors_[kIndex]);
  }

  V vectors_[kVectors];
};

// Goes on with a reduction of the rows x from number `first` to number `last`.
template <class V, int kInputs, class T, class Add>
inline void TakeFrom(Lanes<V, kInputs>* lanes, const T* const (&x)[kInputs], int64_t first,
                     int64_t last, float pad, Add add) {
  constexpr int64_t kStep = Lanes<V, kInputs>::kStep;
  for (int64_t i = first; i < last; i += kStep) {
    const T* at[kInputs];
    for (int k = 0; k < kInputs; ++k) at[k] = x[k] + i;
    lanes->Take(at, last - i, pad, add);
  }
}

// What reductions do with two vectors of lanes, and with the vectors of a single row.
constexpr auto kAdd = [](const auto& from, auto* to) { to->all += from.all; };
constexpr auto kAddFirst = [](const auto* x, auto* sum) { sum->all += x[0].all; };
constexpr auto kAddSquare = [](const auto* x, auto* sum) { sum->all += x[0].all * x[0].all; };

// Sums up what add(vectors of x, &sum) adds, in double; it adds nothing for `pad` in place of x.
template <int kWidth, int kInputs, class T, class Add>
inline double DoubleSum(int64_t n, const T* const (&x)[kInputs], Add add, float pad = 0) {
  Lanes<Doubles<kWidth>, kInputs> lanes(0);
  TakeFrom(&lanes, x, 0, n, pad, add);
  double sums[16];
  lanes.Fold(kAdd, sums);
  return Tree<16>(sums, [](double a, double b) { return a + b; });
}

// The largest of n numbers, -inf if there is none; NaN do not count.
template <int kWidth, class T>
inline float Max(int64_t n, const T* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Lanes<Floats<kWidth>, 1> lanes(kLowest);
  const T* const rows[] = {x};
  TakeFrom(&lanes, rows, 0, n, kLowest, [](const auto* x, auto* best) { Larger(x[0], best); });
  float best[16];
  lanes.Fold([](const auto& x, auto* best) { Larger(x, best); }, best);
  return Tree<16>(best, [](float a, float b) { return b > a ? b : a; });
}

}  // namespace opcast_ops
