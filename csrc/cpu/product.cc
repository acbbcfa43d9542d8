// The blocks of product.h, compiled once for all kernels.
#include "product.h"

namespace opcast_ops {
namespace {

// One product of blocks.
template <int kWidth>
class Product {
 public:
  Product(const Factor& a, const Factor& b, const Block& block, ProductSpace* space)
      : a_(a), b_(b), block_(block), space_(space) {}

  // The depth is cut into stretches of as many panels as a packed block of a has room for, so that
  // few rows of a meet all of a row of b before the next one.
  void Run(int64_t depth) {
    const int64_t rows = (block_.rows + kM - 1) / kM * kM;
    const int64_t stretch = std::max<int64_t>(1, kBlockRows / rows) * kPanel;
    for (int64_t k = 0; k < depth; k += stretch) {
      const int64_t end = std::min(depth, k + stretch);
      for (int64_t at = k; at < end; at += kPanel) {
        Pack<kWidth, kM>(a_, {block_.i, block_.rows, at, std::min(kPanel, end - at)},
                         space_->a + rows * (at - k));
      }
      if (block_.rows <= kM && b_.along) {
        Visit(b_.type, [&](auto zero) {
          using T = decltype(zero);
          if (block_.rows == 1) return AddPlain<T, 1, kStreams>(k, end);
          AddPlain<T, kM, kN>(k, end);
        });
      } else {
        AddPacked(k, end);
      }
    }
  }

 private:
  static constexpr int kM = TileShape<kWidth>::kM, kN = TileShape<kWidth>::kN;
  static constexpr int kStreams = 8;  // rows of b read at once: memory is faster than with fewer
  static constexpr int64_t kLanes = TileShape<kWidth>::kLanes;

  // Adds the products of places k to `end` of the depth.
  void AddPacked(int64_t k, int64_t end) {
    const int64_t rows = (block_.rows + kM - 1) / kM * kM;
    for (int64_t first = 0; first < block_.columns; first += ProductSpace::kSlab) {
      const int64_t columns = std::min(ProductSpace::kSlab, block_.columns - first);
      for (int64_t at = k; at < end; at += kPanel) {
        const int64_t panel = std::min(kPanel, end - at), steps = Steps<kWidth>(panel);
        Pack<kWidth, kN>(b_, {block_.j + first, columns, at, panel}, space_->b);
        for (int64_t j = 0; j < columns; j += kN) {
          const float* b = space_->b + j * steps * kLanes;
          const float* a = space_->a + rows * (at - k);
          for (int64_t i = 0; i < block_.rows; i += kM, a += kM * steps * kLanes) {
            Tile<kWidth, kM, kN> tile;
            tile.Add(PackedRows<kWidth, kM>{a}, PackedRows<kWidth, kN>{b}, steps);
            tile.Finish(block_.rows - i, columns - j, &space_->sums[i][first + j], kBlockColumns);
          }
        }
      }
    }
  }

  // The same for kRows rows of a, without packing b.
  template <class T, int kRows, int kColumns>
  void AddPlain(int64_t k, int64_t end) {
    for (int64_t j = 0; j < block_.columns; j += kColumns) {
      PackedRows<kWidth, kM> a{space_->a};
      for (int64_t at = k; at < end; at += kPanel) {
        const int64_t panel = std::min(kPanel, end - at), steps = panel / kLanes;
        PlainRows<kWidth, kColumns, T> b;
        float rest[kColumns * kLanes];
        for (int64_t r = 0; r < kColumns; ++r) {
          const int64_t row = block_.j + std::min(j + r, block_.columns - 1);
          b.rows[r] = static_cast<const T*>(b_.data) + b_.Offset(row) + at;
          if (panel % kLanes != 0)
            WidenRest<kWidth>(b.rows[r] + steps * kLanes, panel % kLanes, rest + r * kLanes);
        }
        Tile<kWidth, kRows, kColumns> tile;
        tile.Add(a, b, steps);
        a.at += steps * kM * kLanes;
        if (panel % kLanes != 0) {
          tile.Add(a, PackedRows<kWidth, kColumns>{rest}, 1);
          a.at += kM * kLanes;
        }
        tile.Finish(block_.rows, block_.columns - j, &space_->sums[0][j], kBlockColumns);
      }
    }
  }

  const Factor& a_;
  const Factor& b_;
  const Block block_;
  ProductSpace* const space_;
};

}  // namespace

__attribute__((flatten)) void Multiply(const Factor& a, const Factor& b, const Block& block,
                                       int64_t depth, ProductSpace* space, Width<16>) {
  Product<16>(a, b, block, space).Run(depth);
}
#if defined(__x86_64__)
__attribute__((flatten, target(OPCAST_AVX2))) void Multiply(const Factor& a, const Factor& b,
                                                            const Block& block, int64_t depth,
                                                            ProductSpace* space, Width<32>) {
  Product<32>(a, b, block, space).Run(depth);
}
__attribute__((flatten, target(OPCAST_AVX512))) void Multiply(const Factor& a, const Factor& b,
                                                              const Block& block, int64_t depth,
                                                              ProductSpace* space, Width<64>) {
  Product<64>(a, b, block, space).Run(depth);
}
#endif

}  // namespace opcast_ops
