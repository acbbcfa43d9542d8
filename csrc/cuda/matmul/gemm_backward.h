// What the GPU kernels of gemm's gradients share. G is grad_c times the slope of the activation.
#pragma once

#include <cstdint>

#include "cuda/lib/gemm_factors.h"
#include "gemm_backward.gen.h"

namespace opcast_ops {

// Writes G from the products, as numbers of type S.
template <class T, class O, class S>
struct Slope {
  Affine<T> affine;
  GemmBackwardActivation activation;
  const O* grad;
  S* slopes;
  int64_t columns;

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, float sum) const {
    const double value = affine(j, sum);
    const float g = static_cast<float>(grad[i * columns + j]);
    float result = value <= 0 ? 0 : g;
    if (activation == GemmBackwardActivation::kSilu) {
      const double sigmoid = 1 / (1 + exp(-value));
      const double nearby = value > 800 ? 800 : value < -800 ? -800 : value;
      result = static_cast<float>(g * (sigmoid * (1 + nearby * (1 - sigmoid))));
    }
    slopes[i * columns + j] = static_cast<S>(result);
  }
};

// Writes alpha times the sums to a dense matrix.
template <class T>
struct Scaled {
  double alpha;
  T* to;
  int64_t columns;

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, float sum) const {
    to[i * columns + j] = static_cast<T>(static_cast<float>(alpha * sum));
  }
};

// The factors of grad_a = alpha * G @ b and of grad_b = alpha * G.T @ a, where G is dense.
template <class T, class G>
struct GradientFactors {
  RowFactor<G, EvenRows> grad_rows;
  ColumnFactor<T, EvenRows> b_columns;
  ColumnFactor<G, EvenRows> grad_columns;
  ColumnFactor<T, opcast::BatchOffsets> a_columns;
  Scaled<T> to_a, to_b;

  template <class Typed>
  GradientFactors(const Typed& args, const G* grad)
      : grad_rows{grad, args.batch * args.M, {args.N}},
        b_columns{args.b, args.K, {args.b_layout.Stride(-2)}},
        grad_columns{grad, args.N, {args.N}},
        a_columns{args.a, args.K, RowsOf(args.a_layout)},
        to_a{args.alpha, args.grad_a, args.K},
        to_b{args.alpha, args.grad_b, args.K} {}
};

constexpr int kBiasColumns = 32, kBiasRows = 8;  // threads of a block

// to[j] = the sum of column j, as kBiasRows sums of every kBiasRows-th row.
template <class G, class T>
__global__ void __launch_bounds__(kBiasColumns* kBiasRows)
    BiasKernel(const G* grad, int64_t rows, int64_t columns, T* to) {
  __shared__ double sums[kBiasRows][kBiasColumns];
  const int across = threadIdx.x % kBiasColumns, down = threadIdx.x / kBiasColumns;
  for (int64_t first = int64_t{blockIdx.x} * kBiasColumns; first < columns;
       first += int64_t{gridDim.x} * kBiasColumns) {
    const int64_t column = first + across;
    double sum = 0;
    for (int64_t i = down; i < rows && column < columns; i += kBiasRows)
      sum += static_cast<float>(grad[i * columns + column]);
    sums[down][across] = sum;
    __syncthreads();
    if (down == 0 && column < columns) {
      for (int i = 1; i < kBiasRows; ++i) sum += sums[i][across];
      to[column] = static_cast<T>(static_cast<float>(sum));
    }
    __syncthreads();
  }
}

// Writes grad_bias, if it is wanted.
template <class Typed, class G>
opcast::Status BiasGradient(const Typed& args, const opcast::Launch& launch, const G* grad) {
  if (args.grad_bias == nullptr) return opcast::Status::Ok();
  const int64_t blocks = (args.N + kBiasColumns - 1) / kBiasColumns;
  return opcast::Start(BiasKernel<G, typename Typed::T>, opcast::Blocks(blocks),
                       kBiasColumns * kBiasRows, 0, launch, grad, args.batch * args.M, args.N,
                       args.grad_bias);
}

}  // namespace opcast_ops
