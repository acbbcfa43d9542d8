// Warp-wide matrix products for nvcc, with the names of nvcuda::wmma.
//
// Products of 16 by 16 by 16 elements of 16 bits, summed in float, have fragments of their own:
// nvcc loads those of bfloat16 element by element, these with one ldmatrix per fragment. They lie
// in registers as the PTX manual says of mma.m16n8k16, twice side by side. With g = lane / 4 and
// t = lane % 4, element e of
//   accumulator  is in row g + 8 * (e / 2 % 2), column 2 * t + e % 2 + 8 * (e / 4)
// All other shapes and types are nvcuda's.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

namespace opcast::device::wmma {

using nvcuda::wmma::accumulator;
using nvcuda::wmma::col_major;
using nvcuda::wmma::layout_t;
using nvcuda::wmma::matrix_a;
using nvcuda::wmma::matrix_b;
using nvcuda::wmma::mem_col_major;
using nvcuda::wmma::mem_row_major;
using nvcuda::wmma::row_major;

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment : nvcuda::wmma::fragment<Use, m, n, k, T, Layout> {};

namespace detail {

// A factor: four registers of two elements each.
template <class T>
struct alignas(16) Factor {
  static constexpr int num_elements = 8;
  T x[num_elements];
};

// Reads the four 8 by 8 parts of a matrix from shared memory, whose lines begin at multiples of 16
// bytes. Parts are counted down the lines first (kDown), or along them. A lane gets of each two
// elements that are side by side, or with kTranspose below each other.
template <bool kDown, bool kTranspose, class T>
__device__ __forceinline__ void LoadShared(const T* from, unsigned stride, T* to) {
#if __CUDA_ARCH__ >= 750
  const unsigned lane = threadIdx.x % 32, inner = lane / 8 % 2 * 8, outer = lane / 16 * 8;
  const T* line = from + (lane % 8 + (kDown ? inner : outer)) * stride + (kDown ? outer : inner);
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(line));
  unsigned parts[4];
  if constexpr (kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
                 : "r"(at)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
                 : "r"(at)
                 : "memory");
  }
  __builtin_memcpy(to, parts, sizeof parts);
#else
  __trap();
#endif
}

// The same from any memory.
template <bool kDown, bool kTranspose, class T>
__device__ __forceinline__ void LoadAny(const T* from, unsigned stride, T* to) {
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4 * 2;
#pragma unroll
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned inner = e / 2 % 2 * 8, outer = e / 4 * 8, own = t + e % 2;
    const unsigned line = (kDown ? inner : outer) + (kTranspose ? own : g);
    to[e] = from[line * stride + (kDown ? outer : inner) + (kTranspose ? g : own)];
  }
}

// Adds the products of 16 by 16 and 16 by 8 elements to four sums.
template <class T>
__device__ __forceinline__ void Multiply(const unsigned (&a)[4], unsigned b0, unsigned b1,
                                         float* sums) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, __half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#else
  __trap();
#endif
}

}  // namespace detail

template <class Use, class Layout>
struct fragment<Use, 16, 16, 16, __half, Layout> : detail::Factor<__half> {
  static_assert(!std::is_same_v<Use, accumulator>, "products of 16 bits are summed in float");
};
template <class Use, class Layout>
struct fragment<Use, 16, 16, 16, __nv_bfloat16, Layout> : detail::Factor<__nv_bfloat16> {};

template <>
struct fragment<accumulator, 16, 16, 16, float> {
  static constexpr int num_elements = 8;
  float x[num_elements];

  // Calls f(element, row, column) for each element of the calling lane.
  template <class F>
  __device__ __forceinline__ void ForEach(F f) {
    const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int e = 0; e < num_elements; ++e) f(x[e], row + e / 2 % 2 * 8, column + e % 2 + e / 4 * 8);
  }
};

template <class T>
constexpr bool kSixteenBits = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class Fragment, class T>
__device__ __forceinline__ void fill_fragment(Fragment& f, T value) {
#pragma unroll
  for (auto& x : f.x) x = static_cast<std::decay_t<decltype(x)>>(value);
}

// A factor of 16 bits is read fast where the compiler sees that it lies in shared memory.
template <class Use, int m, int n, int k, class T, class Layout>
__device__ __forceinline__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                                 const T* from, unsigned stride) {
  if constexpr (kSixteenBits<T> && m == 16 && n == 16 && k == 16) {
    constexpr bool kLeft = std::is_same_v<Use, matrix_a>;
    constexpr bool kRows = std::is_same_v<Layout, row_major>;
    if (__isShared(from))
      detail::LoadShared<kRows, kLeft != kRows>(from, stride, f.x);
    else
      detail::LoadAny<kRows, kLeft != kRows>(from, stride, f.x);
  } else {
    nvcuda::wmma::load_matrix_sync(f, from, stride);
  }
}

template <int m, int n, int k, class T>
__device__ __forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& f,
                                                 const T* from, unsigned stride, layout_t layout) {
  if constexpr (std::is_same_v<T, float> && m == 16 && n == 16 && k == 16) {
    f.ForEach([&](float& x, int row, int column) {
      x = from[layout == mem_row_major ? row * stride + column : column * stride + row];
    });
  } else {
    nvcuda::wmma::load_matrix_sync(f, from, stride, layout);
  }
}

template <int m, int n, int k, class T>
__device__ __forceinline__ void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f,
                                                  unsigned stride, layout_t layout) {
  if constexpr (std::is_same_v<T, float> && m == 16 && n == 16 && k == 16) {
    auto copy = f;
    copy.ForEach([&](float& x, int row, int column) {
      to[layout == mem_row_major ? row * stride + column : column * stride + row] = x;
    });
  } else {
    nvcuda::wmma::store_matrix_sync(to, f, stride, layout);
  }
}

// d = a b + c
template <int m, int n, int k, class A, class LayoutA, class B, class LayoutB, class D, class C>
__device__ __forceinline__ void mma_sync(fragment<accumulator, m, n, k, D>& d,
                                         const fragment<matrix_a, m, n, k, A, LayoutA>& a,
                                         const fragment<matrix_b, m, n, k, B, LayoutB>& b,
                                         const fragment<accumulator, m, n, k, C>& c) {
  if constexpr (kSixteenBits<A> && m == 16 && n == 16 && k == 16) {
    static_assert(std::is_same_v<A, B>);
    unsigned left[4], right[4];
    __builtin_memcpy(left, a.x, sizeof left);
    __builtin_memcpy(right, b.x, sizeof right);
    auto sums = c;
    detail::Multiply<A>(left, right[0], right[1], sums.x);
    detail::Multiply<A>(left, right[2], right[3], sums.x + 4);
    d = sums;
  } else {
    nvcuda::wmma::mma_sync(d, a, b, c);
  }
}

}  // namespace opcast::device::wmma
