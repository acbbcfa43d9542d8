// An extension as many projects have one: tensors in, tensors out, bound by pybind11. It serves
// PyTorch in eager mode.
#include <torch/extension.h>

#include <cmath>

// y = x / sqrt(mean(x^2) + eps) * weight, by rows.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  TORCH_CHECK(x.device().is_cpu() && weight.device().is_cpu(),
              "rms_norm: expected tensors on the CPU");
  TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1,
              "rms_norm: expected rows and one weight per column");
  TORCH_CHECK(x.size(-1) == weight.size(0), "rms_norm: weight has ", weight.size(0), " elements");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(),
              "rms_norm: x and weight have different dtypes");
  const at::Tensor in = x.contiguous(), w = weight.contiguous();
  at::Tensor out = at::empty_like(in);
  const int64_t n = in.size(-1), rows = n == 0 ? 0 : in.numel() / n;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm", [&] {
    const scalar_t *px = in.data_ptr<scalar_t>(), *pw = w.data_ptr<scalar_t>();
    scalar_t* py = out.data_ptr<scalar_t>();
    at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += float(px[r * n + i]) * float(px[r * n + i]);
        const float scale = 1 / std::sqrt(sum / n + float(eps));
        for (int64_t i = 0; i < n; ++i)
          py[r * n + i] = scalar_t(float(px[r * n + i]) * scale * float(pw[i]));
      }
    });
  });
  return out;
}

// y = softmax(x * scale) along rows, over the columns of which the mask is true; 0 elsewhere, and
// in rows without any.
at::Tensor masked_softmax(const at::Tensor& x, const at::Tensor& mask, double scale) {
  TORCH_CHECK(x.device().is_cpu() && mask.device().is_cpu(),
              "masked_softmax: expected tensors on the CPU");
  TORCH_CHECK(x.dim() >= 1 && mask.sizes() == x.sizes(),
              "masked_softmax: expected a mask of the shape of x");
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_softmax: expected a mask of bool");
  const at::Tensor in = x.contiguous(), keep = mask.contiguous();
  at::Tensor out = at::zeros_like(in);
  const int64_t n = in.size(-1), rows = n == 0 ? 0 : in.numel() / n;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, in.scalar_type(), "masked_softmax", [&] {
        const scalar_t* px = in.data_ptr<scalar_t>();
        const bool* pm = keep.data_ptr<bool>();
        scalar_t* py = out.data_ptr<scalar_t>();
        at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            float most = -INFINITY, sum = 0;
            for (int64_t i = r * n; i < (r + 1) * n; ++i)
              if (pm[i]) most = std::max(most, float(px[i]) * float(scale));
            for (int64_t i = r * n; i < (r + 1) * n; ++i)
              if (pm[i]) sum += std::exp(float(px[i]) * float(scale) - most);
            for (int64_t i = r * n; i < (r + 1) * n; ++i)
              if (pm[i]) py[i] = scalar_t(std::exp(float(px[i]) * float(scale) - most) / sum);
          }
        });
      });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rms_norm", &rms_norm, "Divide every row by its root mean square and scale its columns.",
        py::arg("x"), py::arg("weight"), py::arg("eps") = 1e-6);
  m.def("masked_softmax", &masked_softmax, "Softmax of the columns that a mask keeps.",
        py::arg("x"), py::arg("mask"), py::arg("scale") = 1.0);
}
