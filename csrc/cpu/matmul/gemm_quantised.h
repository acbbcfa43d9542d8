// Products of matrices whose factors are quantised: a panel of the depth is made into bfloat16 at a
// time, for the rows of a block, and multiplied as in gemm_blocks.h.
//
// The sums of a panel are float, those of all panels double. So many products of integers of 8 bits
// as a panel has places add up to 2^24 at most, and all sums of them are exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/scaled_8_bits.h"

namespace opcast_ops {

using WideSums = double[kBlockColumns];  // of a row of a block

// Memory for the panels of one thread.
struct PanelSpace {
  static constexpr int64_t kPlaces = 1024;

  alignas(64) opcast::bf16 a[kBlockRows * kPlaces];
  alignas(64) opcast::bf16 b[kBlockColumns * kPlaces];
  alignas(64) double sums[kBlockRows][kBlockColumns];
};

// That of this thread, until it ends.
inline PanelSpace* PanelsOfThread() {
  thread_local const std::unique_ptr<PanelSpace> space(new PanelSpace);
  return space.get();
}

// Which part of a factor a panel is.
struct PanelPart {
  int64_t row, rows, k, places;
};

// A panel: make(row, k, places, to, width) writes the numbers of a row, from place k on, to `to`.
template <class Make, class WidthType>
inline Factor MakePanel(const PanelPart& part, opcast::bf16* space, Make make, WidthType width) {
  for (int64_t r = 0; r < part.rows; ++r)
    make(part.row + r, part.k, part.places, space + r * PanelSpace::kPlaces, width);
  return {opcast::DType::kBf16, space, PanelSpace::kPlaces};
}

// to[k] = from[k], numbers of 8 bits, all of which are bfloat16.
template <int kWidth, class Q>
inline void Convert(const Q* from, int64_t n, opcast::bf16* to) {
  constexpr int64_t kPart = 128;
  for (int64_t k = 0; k < n; k += kPart) {
    const int64_t count = std::min(kPart, n - k);
    alignas(64) float wide[kPart];
    WidenScaled<kWidth>(from + k, 1.0f, count, wide);
    Narrow<kWidth>(wide, to + k, count, Exact());
  }
}

// A factor of ForMadeBlocks: dense rows of `depth` numbers of 8 bits.
template <class Q>
auto BytePanels(const Q* rows, int64_t depth) {
  return [=](const PanelPart& part, opcast::bf16* space, auto width) {
    const auto make = [=](int64_t row, int64_t k, int64_t places, auto* to, auto width) {
      Convert<width>(rows + row * depth + k, places, to);
    };
    return MakePanel(part, space, make, width);
  };
}

// Adds the float sums of a panel.
inline void AddPanel(const Block& block, int64_t, const Sums* panel, WideSums* sums) {
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j = 0; j < block.columns; ++j) sums[i][j] += panel[i][j];
  }
}

// Rounds the sums of a block to its elements of a result with so many columns.
template <int kWidth, class O>
inline void StoreSums(const Block& block, const WideSums* sums, int64_t columns, O* c) {
  for (int64_t i = 0; i < block.rows; ++i) {
    O* const row = c + (block.i + i) * columns + block.j;
    Map<kWidth>(block.columns, [](double sum) { return sum; }, row, sums[i]);
  }
}

// Calls finish(block, sums, width) for each block of the product of two factors. a and b are called
// as a(part, space, width) and return the part as a factor, whose row 0 is the part's first. add
// adds the sums of the panel that begins at place k: add(block, k, panel, sums). All of a panel is
// in one of the groups of so many places.
template <class A, class B, class Add, class Finish>
void ForMadeBlocks(const opcast::Launch& launch, const Blocks& blocks, int64_t group, A a, B b,
                   Add add, Finish finish) {
  const auto body = [&](int64_t first, int64_t last, auto width) {
    ProductSpace* const space = SpaceOfThread();
    PanelSpace* const panels = PanelsOfThread();
    for (int64_t index = first; index < last; ++index) {
      const Block block = blocks.At(index), local{0, block.rows, 0, block.columns};
      for (int64_t i = 0; i < block.rows; ++i) std::fill_n(panels->sums[i], block.columns, 0.0);
      for (int64_t k = 0, places; k < blocks.Depth(); k += places) {
        places =
            std::min(PanelSpace::kPlaces, std::min(blocks.Depth(), (k / group + 1) * group) - k);
        const Factor left = a(PanelPart{block.i, block.rows, k, places}, panels->a, width);
        const Factor right = b(PanelPart{block.j, block.columns, k, places}, panels->b, width);
        Clear(local, space->sums);
        Multiply(left, right, local, places, space, width);
        add(block, k, space->sums, panels->sums);
      }
      finish(block, panels->sums, width);
    }
  };
  opcast::ParallelFor(launch, blocks.Count(), blocks.PerChunk(), body);
}

}  // namespace opcast_ops
