// What the kernels over rows share: chunk sizes, reductions with a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>

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

// Combines term(0) ... term(n - 1), starting from `neutral`. Term i goes to lane i % 16, so that
// the order depends on n only and vector instructions of any width do the same arithmetic.
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

}  // namespace opcast_ops
