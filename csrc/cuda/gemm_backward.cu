// grad_a = alpha * G @ b, grad_b = alpha * G.T @ a, grad_bias = the sum of G's rows, where G is
// grad_c times the slope of the activation at alpha * a @ b.T + bias.
//
// Without an activation G is grad_c itself; otherwise the product is computed again, and G lies in
// scratch as floats. Products are summed in float (see product.h), grad_bias in double, and rounded
// once. All sums have an order that depends on their length only.
//
// Registers: at most 128.
#include "gemm_backward.gen.h"
#include "gemm_parts.h"
#include "product.h"

namespace opcast_ops {
namespace {

using Args = GemmBackwardArgs;

// Writes G from the products.
template <class T, class O>
struct Slope {
  Affine<T> affine;
  GemmBackwardActivation activation;
  const O* grad;
  float* slopes;
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
    slopes[i * columns + j] = result;
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

// The gradients from G, which is dense.
template <class Typed, class G>
opcast::Status Gradients(const Typed& args, const opcast::Launch& launch, const G* grad) {
  using T = typename Typed::T;
  const int64_t rows = args.batch * args.M;
  const RowFactor<G, EvenRows> grad_rows{grad, rows, {args.N}};
  const ColumnFactor<G, EvenRows> grad_columns{grad, args.N, {args.N}};
  const ColumnFactor<T, opcast::BatchOffsets> a_columns{args.a, args.K, RowsOf(args.a_layout)};
  const ColumnFactor<T, EvenRows> b_columns{args.b, args.K, {args.b_layout.Stride(-2)}};
  const Scaled<T> grad_a{args.alpha, args.grad_a, args.K};
  const Scaled<T> grad_b{args.alpha, args.grad_b, args.K};
  opcast::Status status = Product(launch, grad_rows, b_columns, grad_a, 1, rows, args.K, args.N);
  if (!status.ok()) return status;
  status = Product(launch, grad_columns, a_columns, grad_b, 1, args.N, args.K, rows);
  if (!status.ok() || args.grad_bias == nullptr) return status;
  const int64_t blocks = (args.N + kBiasColumns - 1) / kBiasColumns;
  return opcast::Start(BiasKernel<G, T>, opcast::Blocks(blocks), kBiasColumns * kBiasRows, 0,
                       launch, grad, rows, args.N, args.grad_bias);
}

}  // namespace

opcast::Status GemmBackwardCuda(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using O = typename std::decay_t<decltype(a)>::O;
    const O* grad = a.grad_c;
    if (a.activation == GemmBackwardActivation::kNone) return Gradients(a, launch, grad);
    float* slopes = a.slopes;
    const Affine<T> affine{a.alpha, a.bias};
    const Slope<T, O> slope{affine, a.activation, grad, slopes, a.N};
    const opcast::Status status =
        Product(launch, LeftOf(a), RightOf(a), slope, 1, a.batch * a.M, a.N, a.K);
    return status.ok() ? Gradients(a, launch, slopes) : status;
  });
}

}  // namespace opcast_ops
