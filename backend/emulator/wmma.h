// Warp-wide matrix products for the emulator, with the names of CUDA's.
//
// CUDA does not say which lane holds which element of a fragment; here lane l holds the elements l,
// l + kWarp, ... in row-major order.
#pragma once

#include "emulator.h"
#include "opcast/types.h"

namespace opcast::device::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static constexpr int kRows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr int kColumns = std::is_same_v<Use, matrix_a> ? k : n;
  static constexpr int num_elements = kRows * kColumns / kWarp;
  T x[num_elements];

  // Calls f(element, row, column) for each element of the calling lane.
  template <class F>
  void ForEach(F f) {
    for (int i = 0; i < num_elements; ++i) {
      const int at = i * kWarp + WarpLane();
      f(x[i], at / kColumns, at % kColumns);
    }
  }
  // An element of a whole matrix whose fragments the lanes of the warp exchanged.
  static float At(int row, int column) {
    const int at = row * kColumns + column;
    const auto* held = *static_cast<const fragment* const*>(Peer(at % kWarp));
    return static_cast<float>(held->x[at / kWarp]);
  }
};

template <class Fragment, class T>
void fill_fragment(Fragment& f, T value) {
  for (auto& x : f.x) x = static_cast<std::decay_t<decltype(x)>>(value);
}

namespace detail {
template <class Fragment, class T>
void Load(Fragment& f, const T* from, int64_t stride, bool rows) {
  f.ForEach([&](auto& x, int r, int c) { x = from[rows ? r * stride + c : c * stride + r]; });
  WaitForWarp("load_matrix_sync");
}
}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const T* from, unsigned stride) {
  detail::Load(f, from, stride, std::is_same_v<Layout, row_major>);
}
template <int m, int n, int k, class T>
void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from, unsigned stride,
                      layout_t layout) {
  detail::Load(f, from, stride, layout == mem_row_major);
}
template <int m, int n, int k, class T>
void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                       layout_t layout) {
  auto copy = f;
  copy.ForEach([&](T& x, int r, int c) {
    to[layout == mem_row_major ? int64_t{r} * stride + c : int64_t{c} * stride + r] = x;
  });
  WaitForWarp("store_matrix_sync");
}

// d = a b + c; each element is summed in double and rounded once, which no GPU promises.
template <int m, int n, int k, class A, class LayoutA, class B, class LayoutB, class D, class C>
void mma_sync(fragment<accumulator, m, n, k, D>& d,
              const fragment<matrix_a, m, n, k, A, LayoutA>& a,
              const fragment<matrix_b, m, n, k, B, LayoutB>& b,
              const fragment<accumulator, m, n, k, C>& c) {
  using FragmentA = std::decay_t<decltype(a)>;
  using FragmentB = std::decay_t<decltype(b)>;
  static_assert(kWarp % n == 0, "the elements of a lane are in one column");
  constexpr int kCount = std::decay_t<decltype(c)>::num_elements;
  double sums[kCount];
  float rows[kCount][k], column[k];  // those that the lane's elements need
  const FragmentA* const own_a = &a;
  Exchange("mma_sync", &own_a, sizeof own_a);
  for (int i = 0; i < kCount; ++i) {
    for (int l = 0; l < k; ++l) rows[i][l] = FragmentA::At((i * kWarp + WarpLane()) / n, l);
  }
  const FragmentB* const own_b = &b;
  Exchange("mma_sync", &own_b, sizeof own_b);
  for (int l = 0; l < k; ++l) column[l] = FragmentB::At(l, WarpLane() % n);
  for (int i = 0; i < kCount; ++i) {
    sums[i] = static_cast<float>(c.x[i]);
    for (int l = 0; l < k; ++l) sums[i] += double{rows[i][l]} * column[l];
  }
  WaitForWarp("mma_sync");  // the fragments of others are read until here
  for (int i = 0; i < d.num_elements; ++i) d.x[i] = static_cast<D>(static_cast<float>(sums[i]));
}

}  // namespace opcast::device::wmma
