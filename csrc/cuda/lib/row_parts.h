// Rows too long for one block: cut into parts, which have blocks of their own. So a few rows keep a
// whole GPU busy. Where a row is cut depends on its length and the dtype only.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kPartThreads = 256;
template <class T>
constexpr int64_t kPartElements = int64_t{kPartThreads} * kHeld * Vector<T>::kSize;

// Whether rows of n elements are better cut: a block cannot hold one of them.
template <class T>
bool IsLong(int64_t n) {
  return n > int64_t{kMostThreads} * kHeld * Vector<T>::kSize;
}

struct Parts {
  int64_t rows, n, count;  // `count` parts of each row, at most as many as fit into 31 bits
  Teams teams;             // for which a part is a row

  // The parts of rows of n elements, of the same length up to a vector.
  template <class T>
  static Parts Of(int64_t rows, int64_t n) {
    const int64_t least = (n + kPartElements<T> - 1) / kPartElements<T>;
    const int64_t step = Vector<T>::kSize;
    const int64_t length = ((n + least - 1) / least + step - 1) / step * step;
    const int64_t count = (n + length - 1) / length;
    return {rows, n, count, Teams{rows * count, length, kPartThreads, 1, kHeld, rows * count}};
  }
};

// Bytes of scratch for `size` bytes of each part of rows of n floats or numbers of 16 bits.
inline int64_t ScratchOfParts(opcast::DType type, int64_t rows, int64_t n, size_t size) {
  const bool wide = type == opcast::DType::kF32;
  if (wide ? !IsLong<float>(n) : !IsLong<opcast::f16>(n)) return 0;
  const Parts parts = wide ? Parts::Of<float>(rows, n) : Parts::Of<opcast::f16>(rows, n);
  return parts.rows * parts.count * static_cast<int64_t>(size);
}

// A part of a row: elements from `begin` on.
struct Part {
  int64_t row, index, begin;
};

// Calls work.Run<Form>(member, parts, part) for all parts, on all threads of a block.
template <class Form, class Work>
__global__ void __launch_bounds__(kPartThreads) PartsKernel(Parts parts, Work work) {
  for (int64_t tile = blockIdx.x; tile < parts.teams.tiles; tile += gridDim.x) {
    const int64_t row = tile / parts.count, index = tile % parts.count;
    const int64_t begin = index * parts.teams.n, left = parts.n - begin;
    Member member(parts.teams, left < parts.teams.n ? left : parts.teams.n);
    work.template Run<Form>(member, parts, Part{row, index, begin});
    __syncthreads();  // before another member uses the shared memory
  }
}

// Starts PartsKernel. What is not aligned is read several times.
template <class Work>
opcast::Status ForParts(const Parts& parts, bool aligned, const opcast::Launch& launch,
                        const Work& work) {
  return opcast::Start(
      aligned ? PartsKernel<Form<kHeld, true>, Work> : PartsKernel<Form<0, false>, Work>,
      opcast::Blocks(parts.teams.tiles), kPartThreads, 0, launch, parts, work);
}

}  // namespace opcast_ops
