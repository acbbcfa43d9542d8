// Values of arguments that are no single number: shape and strides of an input that need not be
// dense, where the rows of a broadcast input lie, and lists of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "opcast/minifloat.h"

namespace opcast {

namespace internal {

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
[[gnu::error("Layout::Stride counts dimensions from the end: -1 is the last")]] void NoDimFromEnd();
#else
inline void NoDimFromEnd() {}
#endif

}  // namespace internal

// A view of a tensor's shape and strides, both in elements and `rank` long. The last `trailing`
// dimensions are those that the definition names; the ones before them are its "*". Those of "..."
// are broadcast: Broadcast knows where their rows lie.
struct Layout {
  int rank;
  const int64_t* shape;
  const int64_t* strides;
  int trailing;

  // Element offset of the i-th leading index, counted in row-major order.
  int64_t Batch(int64_t i) const {
    int64_t offset = 0;
    for (int d = rank - trailing - 1; d >= 0; --d) {
      offset += i % shape[d] * strides[d];
      i /= shape[d];
    }
    return offset;
  }

  // Stride of a dimension counted from the end: -1 is the last, -rank the first. A number that is
  // not negative does not compile; without optimisation, every other wrong one ends the process.
  int64_t Stride(int dim_from_end) const {
    if (__builtin_constant_p(dim_from_end) && dim_from_end >= 0) internal::NoDimFromEnd();
#ifndef __OPTIMIZE__
    if (dim_from_end >= 0 || dim_from_end < -rank) {
      std::fprintf(stderr,
                   "opcast: Stride(%d) of an array with %d dimensions: expected -%d to -1\n",
                   dim_from_end, rank, rank);
      std::abort();
    }
#endif
    return strides[rank + dim_from_end];
  }
};

// Where the rows of an input with "..." lie. The leading dimensions of all such inputs are
// broadcast together: the struct's `batch` counts their indices, and of this input several of them
// may have one row. A plain value, so that a kernel on a GPU can take it as an argument.
struct Broadcast {
  static constexpr int kMaxRank = 16;

  // The broadcast dimensions, neighbours merged where this input allows it, and the strides in
  // elements, 0 where the input has one row for all indices.
  int rank;
  bool dense;  // nothing is broadcast: the rows lie one after the other, as in an output
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  // Element offset of the row of the i-th leading index, counted in row-major order. It divides
  // once for each dimension that is left but the first: never where the input is dense, or is one
  // row.
  OPCAST_HOST_DEVICE int64_t Offset(int64_t i) const {
    int64_t offset = 0;
    for (int d = rank - 1; d > 0; --d) {
      offset += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return rank == 0 ? 0 : offset + i * strides[0];
  }
};

// The value of an attribute of type int[]: any number of integers, valid during the call.
struct Ints {
  const int64_t* items;
  size_t count;

  const int64_t* data() const { return items; }
  size_t size() const { return count; }
  const int64_t* begin() const { return items; }
  const int64_t* end() const { return items + count; }
  int64_t operator[](size_t i) const { return items[i]; }
};

// An argument that is a list of arrays: the first elements of each, valid during the call.
template <class T>
struct Arrays {
  void* const* items;
  size_t count;

  size_t size() const { return count; }
  T* operator[](size_t i) const { return static_cast<T*>(items[i]); }
};

}  // namespace opcast
