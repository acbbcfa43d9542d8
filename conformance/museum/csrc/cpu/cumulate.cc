#include <algorithm>
#include <cmath>
#include <optional>

#include "../bug.h"
#include "../numbers.h"
#include "cumulate.gen.h"

namespace museum_ops {
namespace {

constexpr int64_t kBlocks = 4;  // which are reduced and then scanned side by side

double Combined(CumulateBy by, double a, double b) {
  if (by == CumulateBy::kSum) return a + b;
  if (by == CumulateBy::kProduct) return a * b;
  return a > b || std::isnan(a) ? a : b;
}

// A column: its numbers, and where its results go.
template <class T>
struct Column {
  const T* x;
  int64_t x_stride;
  T* y;
  int64_t y_stride;
};

// The numbers from begin to end combined, where there is at least one.
template <class T>
double Total(CumulateBy by, const Column<T>& column, int64_t begin, int64_t end) {
  double total = Widen(column.x[begin * column.x_stride]);
  if (BUG("NVIDIA/cccl#6560",
          "The total of each block began at 0, which suits sums but neither products nor "
          "maxima.")) {
    total = Combined(by, 0, total);
  }
  for (int64_t i = begin + 1; i < end; ++i)
    total = Combined(by, total, Widen(column.x[i * column.x_stride]));
  return total;
}

template <class T>
void Scan(const CumulateArgs& args, const Column<T>& column) {
  const int64_t size = (args.L + kBlocks - 1) / kBlocks;
  std::optional<double> carry = args.initial;
  for (int64_t begin = 0; begin < args.L; begin += size) {
    const int64_t end = std::min(begin + size, args.L);
    std::optional<double> y = carry;
    for (int64_t i = begin; i < end; ++i) {
      const double x = Widen(column.x[i * column.x_stride]);
      y = y ? Combined(args.by, *y, x) : x;
      column.y[i * column.y_stride] = Narrow<T>(*y);
    }
    const double total = Total(args.by, column, begin, end);
    if (begin == 0 &&
        BUG("NVIDIA/cccl#3383", "The total of the first block lacked the initial value."))
      carry.reset();
    carry = carry ? Combined(args.by, *carry, total) : total;
  }
}

}  // namespace

opcast::Status Cumulate(const CumulateArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const opcast::Layout& at = a.x_layout;
    int64_t planes = a.A;
    if (a.A == 1 && a.L == 1 && at.Stride(-2) > 0 &&
        BUG("ml-explore/mlx#4139",
            "Along one row only, its stride served to count the planes, so that a part of longer "
            "rows had none.")) {
      planes = std::min<int64_t>(1, a.C / at.Stride(-2));
    }
    for (int64_t p = 0; p < planes; ++p) {
      for (int64_t c = 0; c < a.C; ++c) {
        Scan(a, Column<typename std::decay_t<decltype(a)>::T>{
                    a.x + p * at.Stride(-3) + c * at.Stride(-1), at.Stride(-2),
                    a.y + p * a.L * a.C + c, a.C});
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
