// Products whose right factor lies across the depth, or is turned so: each line of it, times a
// number of each row of the left one, is added to the sums (see weighted_rows_tile.h).
//
// A panel of the depth is taken in stretches, whose sums are added one after the other. So the
// order of a sum depends on the depth only.
#pragma once

#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/weighted_rows_tile.h"

namespace opcast_ops {

template <int kWidth>
inline Vector<kWidth>* AsVector(float* numbers) {
  return reinterpret_cast<Vector<kWidth>*>(numbers);
}

// Packs lines of a part of a factor in strips of kColumns columns, one line after the other. What
// is missing of the last vector is zero.
template <int kWidth, int kColumns, class Element, class T>
inline void PackStrips(const Factor& factor, const Part& part, float* to) {
  constexpr int64_t kLanes = TileShape<kWidth>::kLanes, kLines = Element::kPerLane;
  const int64_t steps = (part.depth + kLines - 1) / kLines;
  const T none[LineMaker::kMostRows] = {};
  T made[kLines][LineMaker::kRoom];
  for (int64_t s = 0; s < steps; ++s) {
    const T* lines[kLines];
    for (int64_t l = 0; l < kLines; ++l) {
      const int64_t k = s * kLines + l;
      lines[l] = k < part.depth ? factor.Across(part.k + k, part.row, part.rows, made[l]) : none;
    }
    float* strip = to + s * kColumns;
    int64_t j = 0;
    for (; j + kColumns <= part.rows; j += kColumns, strip += kColumns * steps) {
      for (int64_t v = 0; v < kColumns; v += kLanes)
        Element::template CopyLines<kWidth>(lines, j + v, AsVector<kWidth>(strip + v));
    }
    for (; j < part.rows; j += kLanes, strip += kLanes) {
      if (j + kLanes <= part.rows) {
        Element::template CopyLines<kWidth>(lines, j, AsVector<kWidth>(strip));
        continue;
      }
      T rest[kLines][kLanes] = {};
      const T* rests[kLines];
      for (int64_t l = 0; l < kLines; ++l) {
        std::copy_n(lines[l] + j, part.rows - j, rest[l]);
        rests[l] = rest[l];
      }
      Element::template CopyLines<kWidth>(rests, 0, AsVector<kWidth>(strip));
    }
  }
}

// Fills a square with numbers of as many rows of a factor that lies along the depth.
template <int kWidth, class Element, class T, size_t... kRow>
inline void LoadSquare(const Factor& factor, int64_t row, int64_t k, Vector<kWidth>* square,
                       std::index_sequence<kRow...>) {
  constexpr int64_t kNumbers = sizeof...(kRow) * Element::kPerLane;
  const T* const from = static_cast<const T*>(factor.data) + k;
  (Element::template Copy<kWidth>(from + factor.Offset(row + kRow), kNumbers,
                                  reinterpret_cast<float*>(&square[kRow])),
   ...);
}

// The same as PackStrips for such a factor: squares of it are transposed.
template <int kWidth, int kColumns, class Element, class T>
inline void PackTurned(const Factor& factor, const Part& part, float* to) {
  constexpr int64_t kLanes = TileShape<kWidth>::kLanes, kNumbers = kLanes * Element::kPerLane;
  const int64_t lines = (part.depth + Element::kPerLane - 1) / Element::kPerLane;
  for (int64_t j = 0; j < part.rows; j += kLanes) {
    float* const strip = to + j / kColumns * kColumns * lines + j % kColumns;
    const int64_t rows = std::min(kLanes, part.rows - j);
    for (int64_t line = 0; line < lines; line += kLanes) {
      Vector<kWidth> square[kLanes];
      const int64_t k = line * Element::kPerLane, left = part.depth - k;
      if (rows == kLanes && left >= kNumbers) {
        LoadSquare<kWidth, Element, T>(factor, part.row + j, part.k + k, square,
                                       std::make_index_sequence<kLanes>());
      } else {
        const T* const from = static_cast<const T*>(factor.data) + part.k + k;
        std::memset(static_cast<void*>(square), 0, sizeof square);
        for (int64_t r = 0; r < rows; ++r)
          Element::template Copy<kWidth>(from + factor.Offset(part.row + j + r), left,
                                         reinterpret_cast<float*>(&square[r]));
      }
      Transpose<kWidth>(square);
      for (int64_t l = 0; l < std::min(kLanes, lines - line); ++l)
        *AsVector<kWidth>(strip + (line + l) * kColumns) = square[l];
    }
  }
}

#if defined(__x86_64__)
// Replaces sums that dot product instructions may have spoilt: see gemm_bf16_pairs.h. Those of
// columns without numbers are zero in any case.
template <class Element, int kM, int kVectors>
__attribute__((noinline, flatten, target(OPCAST_AVX512_BF16))) void Settle(
    const float* const* weights, const float* lines, int64_t stride, int64_t count,
    const float* enough, Vector<64>* sums) {
  __mmask16 filled[kVectors];
  for (int v = 0; v < kVectors; ++v) filled[v] = FilledLanes(lines + v * 16, stride, count);
  Vector<64> exact[kM * kVectors];
  bool computed = false;
  for (int index = 0; index < kM * kVectors; ++index) {
    const __mmask16 large = LargeLanes(sums[index], enough[index / kVectors]);
    const __mmask16 spoilt = filled[index % kVectors] & ~large;
    if (spoilt == 0) continue;
    if (!computed) {
      SpreadTile<64, kM, kVectors> tile;
      tile.template Add<typename Element::Exact>(weights, lines, stride, count);
      tile.Store(exact);
    }
    computed = true;
    Replace(spoilt, exact[index], &sums[index]);
  }
}
#endif

// One product of blocks.
template <int kWidth, class Element>
class SpreadProduct {
 public:
  SpreadProduct(const Factor& a, const Factor& b, const Block& block, ProductSpace* space)
      : a_(a), b_(b), block_(block), space_(space) {}

  void Run(int64_t depth) {
    for (int64_t k = 0; k < depth; k += kPlaces) {
      const int64_t places = std::min(kPlaces, depth - k);
      VisitSource<Element>(a_.type, [&](auto zero) {
        const Part part{block_.i, block_.rows, k, places};
        using T = decltype(zero);
        if (a_.along) return PackAlong<kWidth, Element, T>(a_, part, 1, space_->a);
        PackAcross<kWidth, Element, T>(a_, part, space_->a);
      });
      Weigh(Steps<kWidth, Element>(places));
      for (int64_t first = 0; first < block_.columns; first += ProductSpace::kSlab) {
        const int64_t columns = std::min(ProductSpace::kSlab, block_.columns - first);
        const Part part{block_.j + first, columns, k, places};
        PackSlab(part);
        AddSlab(places, first, columns);
      }
    }
  }

 private:
  static constexpr int kM = kWidth == 64 ? 8 : 4, kFewest = 2, kVectors = kStripVectors;
  static constexpr int64_t kLanes = TileShape<kWidth>::kLanes, kColumns = kVectors * kLanes;
  static constexpr int64_t kPlaces = 128 * Element::kPerLane;  // of a panel
  static constexpr bool kMayLose = Element::kPerLane > 1;      // see gemm_bf16_pairs.h

  void PackSlab(const Part& part) {
    if constexpr (kMayLose) {
      if (b_.strips != nullptr) return b_.strips->Pack(part, space_->b);
    }
    VisitSource<Element>(b_.type, [&](auto zero) {
      using T = decltype(zero);
      if (b_.along) return PackTurned<kWidth, kColumns, Element, T>(b_, part, space_->b);
      PackStrips<kWidth, kColumns, Element, T>(b_, part, space_->b);
    });
  }

  // Finds what sums of the packed rows of a are large enough: see gemm_bf16_pairs.h.
  void Weigh(int64_t steps) {
    if constexpr (kMayLose) {
      for (int64_t r = 0; r < block_.rows; ++r) {
        typename Element::Magnitudes magnitudes;
        const PackedRows<kWidth, 1> row{space_->a + r * steps * kLanes};
        opcast_ops::Weigh<Element, kWidth>(row, 0, steps, &magnitudes);
        space_->enough_a[r] = magnitudes.Enough();
      }
    }
  }

  // Adds the products of the packed panels.
  void AddSlab(int64_t places, int64_t first, int64_t columns) {
    const int64_t lines = (places + Element::kPerLane - 1) / Element::kPerLane;
    const int64_t stride = Steps<kWidth, Element>(places) * kLanes;
    for (int64_t j = 0; j < columns; j += kColumns) {
      const float* const strip = space_->b + j * lines;
      if (columns - j > kColumns - kLanes) {
        AddStrip<kVectors>(stride, strip, lines, first + j);
      } else {
        for (int64_t v = 0; v < columns - j; v += kLanes)
          AddStrip<1>(stride, strip + v, lines, first + j + v);
      }
    }
  }

  template <int kParts>
  void AddStrip(int64_t stride, const float* strip, int64_t lines, int64_t j) {
    for (int64_t i = 0; i < block_.rows; i += kM) AddRows<kM, kParts>(i, stride, strip, lines, j);
  }

  // Adds the products of up to kRows rows from i on; those behind the last one are computed, too.
  template <int kRows, int kParts>
  void AddRows(int64_t i, int64_t stride, const float* strip, int64_t lines, int64_t j) {
    if constexpr (kRows > kFewest) {
      if (block_.rows - i <= kRows / 2)
        return AddRows<kRows / 2, kParts>(i, stride, strip, lines, j);
    }
    const float* at[kRows];
    for (int64_t r = 0; r < kRows; ++r)
      at[r] = space_->a + std::min(i + r, block_.rows - 1) * stride;
    SpreadTile<kWidth, kRows, kParts> tile;
    tile.template Add<Element>(at, strip, kColumns, lines);
#if defined(__x86_64__)
    if constexpr (kMayLose) {
      float enough[kRows];
      for (int r = 0; r < kRows; ++r)
        enough[r] = space_->enough_a[std::min(i + r, block_.rows - 1)];
      if (!tile.All([&](int row, const auto& sums) { return LargeLanes(sums, enough[row]); })) {
        Vector<kWidth> sums[kRows * kParts];
        tile.Store(sums);
        Settle<Element, kRows, kParts>(at, strip, kColumns, lines, enough, sums);
        tile.Load(sums);
      }
    }
#endif
    tile.AddTo(&space_->sums[i][j], kBlockColumns);
  }

  const Factor& a_;
  const Factor& b_;
  const Block block_;
  ProductSpace* const space_;
};

}  // namespace opcast_ops
