// Sums over the rows of a matrix.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cpu/lib/row_reductions.h"
#include "opcast/kernel.h"

namespace opcast_ops {

// Calls add(first, last, sums, width) for groups of consecutive rows of a matrix of n columns. It
// must write all `count` sums of the group, and adds its rows in order; width is that of
// ParallelFor's bodies. Then calls store(begin, end, totals) for ranges of the sums.
//
// The groups' sums are added in order. The groups depend on the shape only, so that bits do not
// depend on the number of threads; their number is bounded, so that the sums take little memory
// beside the matrix.
template <class Add, class Store>
void SumRows(const opcast::Launch& launch, int64_t rows, int64_t n, int64_t count, Add add,
             Store store) {
  constexpr int64_t kMostGroups = 64, kMostSums = 1 << 18;
  const int64_t most =
      std::max<int64_t>(1, std::min(kMostGroups, kMostSums / std::max<int64_t>(1, count)));
  const int64_t size = std::max(RowsPerChunk(n), (rows + most - 1) / most);
  const int64_t groups = std::max<int64_t>(1, (rows + size - 1) / size);
  const std::unique_ptr<double[]> sums(new double[groups * count]);
  opcast::ParallelFor(launch, groups, 1, [&](int64_t begin, int64_t end, auto width) {
    for (int64_t group = begin; group < end; ++group) {
      add(group * size, std::min(rows, (group + 1) * size), sums.get() + group * count, width);
    }
  });
  opcast::ParallelFor(launch, count, kChunk / groups, [&](int64_t begin, int64_t end) {
    double* const totals = sums.get();
    for (int64_t group = 1; group < groups; ++group) {
      const double* const own = totals + group * count;
      for (int64_t j = begin; j < end; ++j) totals[j] += own[j];
    }
    store(begin, end, totals);
  });
}

// Sums over the rows of a group, in double or, for a few rows at a time, in float. None is written
// before it is needed, since that takes as long as a row or two.
template <int kWidth>
class RowSums {
 public:
  RowSums(int64_t count, double* sums) : count_(count), sums_(sums), own_(new float[count]) {}

  // Where to add the next rows in double.
  double* InDouble() {
    if (!begun_) std::fill(sums_, sums_ + count_, 0.0);
    begun_ = true;
    return sums_;
  }

  // Where to add the next rows in float, of which there may be kMostRows at most.
  float* InFloat(int count) {
    if (rows_ + count > kMostRows) Flush();
    if (rows_ == 0) std::fill(own_.get(), own_.get() + count_, 0.0f);
    rows_ += count;
    return own_.get();
  }

  // Must follow the last row.
  void Flush() {
    if (rows_ == 0) {
      InDouble();  // a group may have no rows at all
    } else if (begun_) {
      for (int64_t j = 0; j < count_; ++j) sums_[j] += own_[j];
    } else {
      for (int64_t j = 0; j < count_; ++j) sums_[j] = 0.0 + own_[j];  // as above, also for -0
    }
    begun_ = true;
    rows_ = 0;
  }

 private:
  static constexpr int kMostRows = 16;

  const int64_t count_;
  double* const sums_;
  const std::unique_ptr<float[]> own_;
  int rows_ = 0;        // that are in own_
  bool begun_ = false;  // whether sums_ has numbers
};

}  // namespace opcast_ops
