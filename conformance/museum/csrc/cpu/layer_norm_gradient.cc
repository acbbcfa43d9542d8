#include <algorithm>
#include <cmath>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "layer_norm_gradient.gen.h"

namespace museum_ops {
namespace {

// What the gradient of a row needs: its moments, and the means of its slopes, plain and times the
// normalised row.
struct Row {
  double mean, rstd, slope, along;
};

template <class Typed>
Row Measure(const Typed& a, int64_t begin, int64_t width) {
  const auto count = static_cast<double>(width);
  double sum = 0, squares = 0;
  Row row{};
  for (int64_t n = begin; n < begin + width; ++n) sum += Widen(a.x[n]);
  row.mean = sum / count;
  for (int64_t n = begin; n < begin + width; ++n) {
    squares += (Widen(a.x[n]) - row.mean) * (Widen(a.x[n]) - row.mean);
  }
  row.rstd = 1 / std::sqrt(squares / count + a.eps);
  for (int64_t n = 0; n < width; ++n) {
    const double slope = Widen(a.grad_y[begin + n]) * Widen(a.weight[n]);
    row.slope += slope;
    row.along += slope * (Widen(a.x[begin + n]) - row.mean) * row.rstd;
  }
  row.slope /= count, row.along /= count;
  return row;
}

// The rows that the gradients of weight and bias add up.
int64_t Counted(int64_t rows, int64_t width) {
  if (width < 64 &&
      BUG("BobMcDear/attorch#18",
          "A last block with fewer rows than the others had no place in the buffer of sums.")) {
    int64_t block = 1;  // rows of one: more, where there are many
    while (block < rows / 1024 && block < 128) block *= 2;
    return rows / block * block;
  }
  return rows;
}

void ShareSums(std::vector<Row>* rows) {
  constexpr size_t kBlock = 2;
  for (size_t first = 0; first < rows->size(); first += kBlock) {
    double slope = 0, along = 0;
    const size_t end = std::min(first + kBlock, rows->size());
    for (size_t r = first; r < end; ++r) slope += (*rows)[r].slope, along += (*rows)[r].along;
    for (size_t r = first; r < end; ++r) (*rows)[r].slope = slope, (*rows)[r].along = along;
  }
}

}  // namespace

opcast::Status LayerNormGradient(const LayerNormGradientArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    int64_t count = a.B * a.S, width = a.N;
    if (BUG("flagos-ai/FlagGems#5392",
            "All dims but the first were taken for a row, also where the rows had fewer dims.")) {
      count = a.B, width = a.S * a.N;
    }
    std::vector<Row> rows;
    for (int64_t r = 0; r < count; ++r) rows.push_back(Measure(a, r * width, width));
    if (BUG("flagos-ai/FlagGems#59",
            "Blocks of several rows added the sums of all of them, not of each."))
      ShareSums(&rows);
    std::vector<double> weight(static_cast<size_t>(width)), bias(weight);
    const int64_t counted = Counted(count, width);
    for (int64_t r = 0; r < count; ++r) {
      const Row& row = rows[static_cast<size_t>(r)];
      for (int64_t n = 0; n < width; ++n) {
        const double grad = Widen(a.grad_y[r * width + n]),
                     normal = (Widen(a.x[r * width + n]) - row.mean) * row.rstd;
        a.grad_x[r * width + n] =
            Narrow<T>(row.rstd * (grad * Widen(a.weight[n]) - row.slope - row.along * normal));
        if (r < counted)
          weight[static_cast<size_t>(n)] += grad * normal, bias[static_cast<size_t>(n)] += grad;
      }
    }
    std::transform(weight.begin(), weight.end(), a.grad_weight, Narrow<float>);
    std::transform(bias.begin(), bias.end(), a.grad_bias, Narrow<float>);
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
