// Warp-wide matrix products for HIP, with the names of CUDA's, of 16 by 16 by 16 elements.
//
// A warp is cut into groups of 16 lanes; with elements e of a lane l, and kOf = 16 / groups:
//   matrix_a     row l % 16, column kOf * (l / 16) + e
//   matrix_b     row kOf * (l / 16) + e, column l % 16
//   accumulator  row kOf * (l / 16) + e, column l % 16
// With 64 lanes, that is how v_mfma_f32_16x16x16 of CDNA takes and gives them. Other GPUs exchange
// them by shuffles: for whoever has no other kernel, not for speed.
#pragma once

#include "opcast/device_hip.h"

namespace opcast::device::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

constexpr int kSide = 16, kOf = kSide * kSide / kWarp;

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static_assert(m == kSide && n == kSide && k == kSide);
  static constexpr int num_elements = kOf;
  T x[num_elements];

  // Calls f(element, row, column) for each element of the calling lane.
  template <class F>
  __device__ __forceinline__ void ForEach(F f) {
    const int beside = WarpLane() % kSide, first = WarpLane() / kSide * kOf;
    for (int e = 0; e < kOf; ++e) {
      if constexpr (std::is_same_v<Use, matrix_a>)
        f(x[e], beside, first + e);
      else
        f(x[e], first + e, beside);
    }
  }
};

template <class Fragment, class T>
__device__ __forceinline__ void fill_fragment(Fragment& f, T value) {
  for (auto& x : f.x) x = value;
}

namespace detail {
__device__ __forceinline__ int64_t Offset(int row, int column, unsigned stride, bool rows) {
  return rows ? int64_t{row} * stride + column : int64_t{column} * stride + row;
}
}  // namespace detail

template <class Use, class T, class Layout>
__device__ __forceinline__ void load_matrix_sync(fragment<Use, kSide, kSide, kSide, T, Layout>& f,
                                                 const T* from, unsigned stride) {
  constexpr bool kRows = std::is_same_v<Layout, row_major>;
  f.ForEach(
      [&](T& x, int row, int column) { x = from[detail::Offset(row, column, stride, kRows)]; });
}
template <class T>
__device__ __forceinline__ void load_matrix_sync(fragment<accumulator, kSide, kSide, kSide, T>& f,
                                                 const T* from, unsigned stride, layout_t layout) {
  f.ForEach([&](T& x, int row, int column) {
    x = from[detail::Offset(row, column, stride, layout == mem_row_major)];
  });
}
template <class T>
__device__ __forceinline__ void store_matrix_sync(
    T* to, const fragment<accumulator, kSide, kSide, kSide, T>& f, unsigned stride,
    layout_t layout) {
  auto copy = f;
  copy.ForEach([&](T& x, int row, int column) {
    to[detail::Offset(row, column, stride, layout == mem_row_major)] = x;
  });
}

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)

namespace detail {
using Floats = float __attribute__((ext_vector_type(4)));
using Halves = _Float16 __attribute__((ext_vector_type(4)));
using Shorts = short __attribute__((ext_vector_type(4)));

__device__ __forceinline__ Floats Multiply(const f16 (&a)[4], const f16 (&b)[4], Floats c) {
  const Halves left = {a[0], a[1], a[2], a[3]}, right = {b[0], b[1], b[2], b[3]};
  return __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, c, 0, 0, 0);
}
__device__ __forceinline__ Floats Multiply(const bf16 (&a)[4], const bf16 (&b)[4], Floats c) {
  Shorts left, right;
  __builtin_memcpy(&left, a, sizeof left);
  __builtin_memcpy(&right, b, sizeof right);
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, c, 0, 0, 0);
}
}  // namespace detail

// d = a b + c
template <class T, class LayoutA, class LayoutB>
__device__ __forceinline__ void mma_sync(
    fragment<accumulator, kSide, kSide, kSide, float>& d,
    const fragment<matrix_a, kSide, kSide, kSide, T, LayoutA>& a,
    const fragment<matrix_b, kSide, kSide, kSide, T, LayoutB>& b,
    const fragment<accumulator, kSide, kSide, kSide, float>& c) {
  const detail::Floats sums =
      detail::Multiply(a.x, b.x, detail::Floats{c.x[0], c.x[1], c.x[2], c.x[3]});
  for (int e = 0; e < kOf; ++e) d.x[e] = sums[e];
}

#else

// d = a b + c
template <class T, class LayoutA, class LayoutB>
__device__ __forceinline__ void mma_sync(
    fragment<accumulator, kSide, kSide, kSide, float>& d,
    const fragment<matrix_a, kSide, kSide, kSide, T, LayoutA>& a,
    const fragment<matrix_b, kSide, kSide, kSide, T, LayoutB>& b,
    const fragment<accumulator, kSide, kSide, kSide, float>& c) {
  const int column = WarpLane() % kSide, first = WarpLane() / kSide * kOf;
  auto sums = c;
  for (int l = 0; l < kSide; ++l) {
    const int group = l / kOf * kSide;
    const float right = Shuffle(static_cast<float>(b.x[l % kOf]), group + column);
    for (int e = 0; e < kOf; ++e) {
      const float left = Shuffle(static_cast<float>(a.x[l % kOf]), group + first + e);
      sums.x[e] = fmaf(left, right, sums.x[e]);
    }
  }
  d = sums;
}

#endif

}  // namespace opcast::device::wmma
