// Rows and matrices whose blocks have scales, as factors of the products of expert_layers.h. Blocks
// have all columns of a row or a power of two of them, so that no number needs a division.
#pragma once

#include <cstdint>

#include "cuda/moe/expert_layers.h"

namespace opcast_ops {

// Scales of blocks of `rows` rows, `across` blocks side by side; `shift` columns are the power of
// two of the columns of a block.
template <class S>
struct BlockScales {
  const S* scales;
  int64_t across, rows;
  int shift;

  BlockScales(const S* scales, int64_t lines, int64_t depth, int64_t down, int64_t across)
      : scales(scales), across(across), rows(lines > down ? lines / down : 1), shift(0) {
    if (across == 1) shift = 62;
    while (across > 1 && (int64_t{1} << shift) < depth / across) ++shift;
  }

  OPCAST_DEVICE const S* Row(int64_t row) const { return scales + row / rows * across; }
};

// A row of a factor whose terms are numbers times scales.
template <class Numbers, class S>
struct ScaledTerms {
  Numbers numbers;
  const S* scales;
};

// Numbers of one element each; Codes has the same two functions.
template <class T>
struct Elements {
  const T* data;

  OPCAST_DEVICE Elements At(int64_t element) const { return {data + element}; }
  OPCAST_DEVICE float Number(int64_t k) const { return static_cast<float>(data[k]); }
};

// Rows of numbers times scales, from row `first` on.
template <class Numbers, class S>
struct ScaledFactor {
  static constexpr bool kAlongDepth = true;
  Numbers numbers;
  BlockScales<S> scales;
  int64_t first, rows, depth;
  float factor;  // of all scales
  using Row = ScaledTerms<Numbers, S>;

  // Rows beyond the last repeat it, and nobody reads their sums.
  OPCAST_DEVICE Row At(int64_t, int64_t i) const {
    const int64_t row = first + (i < rows ? i : rows - 1);
    return {numbers.At(row * depth), scales.Row(row)};
  }
  OPCAST_DEVICE float Term(const Row& row, int64_t k) const {
    return row.numbers.Number(k) * (static_cast<float>(row.scales[k >> scales.shift]) * factor);
  }
};

// Rows of `depth` numbers, or matrices of so many lines of them, whose factors may be null.
template <class Numbers, class S>
struct ScaledRows {
  Numbers numbers;
  BlockScales<S> scales;
  int64_t lines, depth;
  const float* factors = nullptr;

  OPCAST_DEVICE ScaledFactor<Numbers, S> Rows(int64_t begin, int64_t rows, float factor = 1) const {
    return {numbers, scales, begin, rows, depth, factor};
  }
  OPCAST_DEVICE ScaledFactor<Numbers, S> Matrix(int64_t e) const {
    return Rows(e * lines, lines, factors == nullptr ? 1 : factors[e]);
  }
};

// Ones, for rows that have no scales. It is a template since several sources include this file.
template <class T>
__global__ void __launch_bounds__(kExpertThreads) FillOnesKernel(T* to, int64_t n) {
  const int64_t stride = int64_t{gridDim.x} * kExpertThreads;
  for (int64_t i = int64_t{blockIdx.x} * kExpertThreads + threadIdx.x; i < n; i += stride)
    to[i] = static_cast<T>(1.0f);
}

// Copies the scales of the rows of x to where the rows stand.
template <class Args>
opcast::Status GroupScales(const Args& a, const opcast::Launch& launch) {
  const Items items{a.topk_ids, a.N * a.k, a.E};
  if (a.x_scale != nullptr)
    return PermuteRows(a.permuted_scale, a.x_scale, items, a.row_map, a.offsets, a.k, a.C1, launch);
  const int64_t count = items.count * a.C1;
  return opcast::Start(FillOnesKernel<float>,
                       opcast::Blocks((count + kExpertThreads - 1) / kExpertThreads),
                       kExpertThreads, 0, launch, a.permuted_scale, count);
}

}  // namespace opcast_ops
