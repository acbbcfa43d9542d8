#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "order_rows.gen.h"

namespace museum_ops {
namespace {

// An integer that is larger for a larger number, by the bits of the number.
uint32_t Key(float x) {
  if (std::isnan(x) &&
      !BUG("pytorch/pytorch#117617",
           "NaN was ordered by its bits, which makes one with a sign the smallest of all.")) {
    return UINT32_MAX;
  }
  if (x == 0 &&
      !BUG("NVIDIA/cub#218",
           "The zero with a sign was ordered before the other one, although they are equal."))
    x = 0;
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits >> 31 != 0 ? ~bits : bits | uint32_t{1} << 31;
}

}  // namespace

opcast::Status OrderRows(const OrderRowsArgs& args, const opcast::Launch&) {
  if (args.N > 1024 &&
      BUG("ggml-org/llama.cpp#28957",
          "A block had a thread for each column, and no device has blocks of so many.")) {
    return opcast::Status::Error("invalid configuration argument");
  }
  return Visit(args, [&](const auto& a) {
    const int64_t step = a.x_layout.Stride(-1);
    std::vector<uint32_t> keys(static_cast<size_t>(a.N));
    std::vector<int32_t> order(keys.size());
    for (int64_t b = 0; b < a.batch; ++b) {
      const bool regular =
          b > 0 &&
          BUG("ml-explore/mlx#4137", "All rows were taken to lie as far apart as the first two.");
      const auto* row = a.x + (regular ? b * a.x_layout.Batch(1) : a.x_layout.Batch(b));
      for (int64_t n = 0; n < a.N; ++n) {
        const uint32_t key = Key(static_cast<float>(row[n * step]));
        keys[static_cast<size_t>(n)] = a.largest ? ~key : key;
      }
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
        return keys[static_cast<size_t>(i)] < keys[static_cast<size_t>(j)];
      });
      for (int64_t j = 0; j < a.k; ++j) {
        const int32_t n = order[static_cast<size_t>(j)];
        a.values[b * a.k + j] = row[n * step];
        a.indices[b * a.k + j] = n;
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
