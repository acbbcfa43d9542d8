// A peer of the author's cost: rms_norm and its gradient as an extension of PyTorch, with kernels,
// written as PyTorch's tutorial says. It computes what the op of the collection computes: every
// dtype, in float or double, rounded once; the gradient of the weight in double.
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <cmath>
#include <vector>

namespace {

void Check(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(x.dim() >= 1, "x: expected at least one dimension");
  TORCH_CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1),
              "weight: expected as many as x has columns");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(), "weight: expected the dtype of x");
  TORCH_CHECK(x.device().is_cpu() && weight.device().is_cpu(), "expected tensors on the CPU");
}

template <class T>
double Scale(const T* x, int64_t n, double eps) {
  double squares = 0;
  for (int64_t j = 0; j < n; ++j) squares += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  return 1 / std::sqrt(squares / static_cast<double>(n) + eps);
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  Check(x, weight);
  const at::Tensor in = x.contiguous(), w = weight.contiguous();
  at::Tensor y = at::empty_like(in);
  const int64_t n = in.size(-1), rows = n ? in.numel() / n : 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm", [&] {
    const auto* from = in.const_data_ptr<scalar_t>();
    const auto* by = w.const_data_ptr<scalar_t>();
    auto* to = y.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, 1 + 32768 / (n + 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double scale = Scale(from + i * n, n, eps);
        for (int64_t j = 0; j < n; ++j) {
          const double v = static_cast<double>(from[i * n + j]) * static_cast<double>(by[j]);
          to[i * n + j] = static_cast<scalar_t>(v * scale);
        }
      }
    });
  });
  return y;
}

std::tuple<at::Tensor, at::Tensor> RmsNormBackward(const at::Tensor& grad_y, const at::Tensor& x,
                                                   const at::Tensor& weight, double eps) {
  Check(x, weight);
  TORCH_CHECK(grad_y.sizes() == x.sizes(), "grad_y: expected the shape of x");
  const at::Tensor grad = grad_y.contiguous(), in = x.contiguous(), w = weight.contiguous();
  at::Tensor grad_x = at::empty_like(in), grad_weight = at::empty_like(w);
  const int64_t n = in.size(-1), rows = n ? in.numel() / n : 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm", [&] {
    const auto* g = grad.const_data_ptr<scalar_t>();
    const auto* from = in.const_data_ptr<scalar_t>();
    const auto* by = w.const_data_ptr<scalar_t>();
    auto* to = grad_x.mutable_data_ptr<scalar_t>();
    std::vector<double> sums(n, 0.0);
    for (int64_t i = 0; i < rows; ++i, g += n, from += n, to += n) {
      const double scale = Scale(from, n, eps);
      double along = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double x_j = static_cast<double>(from[j]), g_j = static_cast<double>(g[j]);
        along += g_j * static_cast<double>(by[j]) * x_j;
        sums[j] += g_j * x_j * scale;
      }
      const double share = scale * scale * along / static_cast<double>(n);
      for (int64_t j = 0; j < n; ++j) {
        const double wanted = static_cast<double>(g[j]) * static_cast<double>(by[j]);
        to[j] = static_cast<scalar_t>(scale * (wanted - static_cast<double>(from[j]) * share));
      }
    }
    auto* out = grad_weight.mutable_data_ptr<scalar_t>();
    for (int64_t j = 0; j < n; ++j) out[j] = static_cast<scalar_t>(sums[j]);
  });
  return {grad_x, grad_weight};
}

}  // namespace

TORCH_LIBRARY(opcast_author, m) {
  m.def("rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor");
  m.def(
      "rms_norm_backward(Tensor grad_y, Tensor x, Tensor weight, float eps=1e-06)"
      " -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(opcast_author, CPU, m) {
  m.impl("rms_norm", &RmsNorm);
  m.impl("rms_norm_backward", &RmsNormBackward);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}
