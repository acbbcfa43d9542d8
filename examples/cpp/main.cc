// Calls ops of a collection from C++: one with a list of arrays, and one that refuses what it gets.
// docs/calling.md explains it.
#include <opcast/ops.h>

#include <cstdio>
#include <vector>

namespace {

// Matrix is a dense one of floats, as DLPack describes it.
struct Matrix {
  std::vector<float> values;
  int64_t shape[2];
  DLTensor array;

  Matrix(int64_t rows, int64_t columns, std::vector<float> numbers)
      : values(std::move(numbers)),
        shape{rows, columns},
        array{values.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0} {}
  Matrix(const Matrix&) = delete;
};

}  // namespace

int main() {
  Matrix x(2, 2, {3, 4, 6, 8}), weight(1, 2, {1, 1}), y(2, 2, {0, 0, 0, 0});
  DLTensor scale = weight.array;
  scale.ndim = 1, scale.shape = &weight.shape[1];
  opcast::rms_norm(&y.array, &x.array, &scale, 0.5);
  std::printf("%g %g\n%g %g\n", y.values[0], y.values[1], y.values[2], y.values[3]);

  Matrix gradient(2, 2, {1, 1, 1, 1}), mean(2, 2, {0, 0, 0, 0}), square(2, 2, {0, 0, 0, 0});
  const double lr = 0.5;
  const int step = 1;
  opcast::adamw({&x.array}, {&gradient.array}, {&mean.array}, {&square.array}, lr, step, 0.9, 0.999,
                0, 0);
  std::printf("%g %g\n", x.values[0], x.values[3]);

  try {
    opcast::rms_norm(&y.array, &x.array, &scale, -1);
  } catch (const opcast::Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.what());
  }
}
