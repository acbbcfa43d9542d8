// The blocks of gemm_blocks.h, compiled once for all kernels.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/gemm_blocks.h"

#include <memory>

#include "cpu/lib/gemm_outer_product.h"

namespace opcast_ops {
namespace {

// One product of blocks, both of whose factors lie along the depth.
template <int kWidth, class Element>
class Product {
 public:
  Product(const Factor& a, const Factor& b, const Block& block, ProductSpace* space)
      : a_(a),
        b_(b),
        block_(block),
        plain_(block.few && b.layout == nullptr),
        group_(plain_ && block.rows <= kFewest ? block.rows : kM),
        padded_((block.rows + group_ - 1) / group_ * group_),
        space_(space) {}

  // The depth is cut into stretches of as many panels as a packed block of a has room for, so that
  // few rows of a meet all of a row of b before the next one.
  void Run(int64_t depth) {
    const int64_t stretch = std::max<int64_t>(1, kBlockRows / padded_) * kPlaces;
    for (int64_t k = 0; k < depth; k += stretch) {
      const int64_t end = std::min(depth, k + stretch);
      for (int64_t at = k; at < end; at += kPlaces) {
        const int64_t places = std::min(kPlaces, end - at);
        PackRows(a_, {block_.i, block_.rows, at, places}, group_, PanelOfA(at - k));
        WeighPanel(at - k, places);
      }
      if (!plain_) {
        AddPacked(k, end);
      } else {
        VisitSource<Element>(b_.type, [&](auto zero) { AddPlain<decltype(zero)>(k, end); });
      }
    }
  }

 private:
  static constexpr int kM = TileShape<kWidth>::kM, kN = TileShape<kWidth>::kN;
  static constexpr int64_t kLanes = TileShape<kWidth>::kLanes;
  static constexpr int64_t kNumbers = kLanes * Element::kPerLane;  // of a vector
  static constexpr int64_t kPlaces = kPanel * Element::kPerLane;   // of a panel
  static constexpr bool kMayLose = Element::kPerLane > 1;          // see gemm_bf16_pairs.h
  static constexpr int64_t kFewest = 2;  // rows of a that are a group of their own
  static constexpr int64_t kSlab = ProductSpace::kSlab;

  static void PackRows(const Factor& factor, const Part& part, int64_t group, float* to) {
    VisitSource<Element>(factor.type, [&](auto zero) {
      PackAlong<kWidth, Element, decltype(zero)>(factor, part, group, to);
    });
  }

  // A packed panel of a; `offset` says where it begins, from the stretch's beginning on.
  float* PanelOfA(int64_t offset) const {
    return space_->a + padded_ * (offset / Element::kPerLane);
  }
  Weights WeightsOfA(int64_t offset, int64_t row) const {
    const int64_t at = padded_ * (offset / kPlaces) + row;
    return {space_->smallest_a + at, space_->enough_a + at};
  }

  // Weighs the packed rows of a.
  void WeighPanel(int64_t offset, int64_t places) {
    if constexpr (kMayLose) {
      const int64_t steps = Steps<kWidth, Element>(places);
      for (int64_t r = 0; r < padded_; ++r) {
        typename Element::Magnitudes magnitudes;
        const float* at = PanelOfA(offset) + (r / group_ * steps * group_ + r % group_) * kLanes;
        for (int64_t s = 0; s < steps; ++s, at += group_ * kLanes)
          magnitudes.Note(*reinterpret_cast<const Vector<kWidth>*>(at));
        const Weights weights = WeightsOfA(offset, r);
        *weights.smallest = magnitudes.Smallest();
        *weights.enough = magnitudes.Enough();
      }
    }
  }

  // Adds the products of places k to `end` of the depth.
  void AddPacked(int64_t k, int64_t end) {
    for (int64_t first = 0; first < block_.columns; first += kSlab) {
      const int64_t columns = std::min(kSlab, block_.columns - first);
      for (int64_t at = k; at < end; at += kPlaces) {
        const int64_t places = std::min(kPlaces, end - at);
        PackRows(b_, {block_.j + first, columns, at, places}, kN, space_->b);
        for (int64_t j = 0; j < columns; j += kN) AddColumns(at - k, places, first, j);
      }
    }
  }

  // Adds the products of a packed panel of a and of a packed group of b.
  void AddColumns(int64_t offset, int64_t places, int64_t first, int64_t j) {
    const int64_t steps = Steps<kWidth, Element>(places);
    const PackedRows<kWidth, kN> b{space_->b + j * steps * kLanes};
    PackedRows<kWidth, kM> a{PanelOfA(offset)};
    for (int64_t i = 0; i < block_.rows; i += kM, a.at += kM * steps * kLanes) {
      const auto add = [=](auto element, auto* tile) {
        tile->template Add<decltype(element)>(a, b, steps);
      };
      const auto weigh = [=](int row, auto* magnitudes) {
        Weigh<Element, kWidth>(b, row, steps, magnitudes);
      };
      AddTile<kM, kN>(offset, i, first + j, 1, add, weigh);
    }
  }

  // Adds to the sums from row i and column j of the block on, of columns so far apart, what add
  // adds to a tile. weigh weighs a row of b.
  template <int kRows, int kColumns, class Add, class Weigh>
  void AddTile([[maybe_unused]] int64_t offset, int64_t i, int64_t j, int64_t apart, Add add,
               [[maybe_unused]] Weigh weigh) {
    const int64_t rows = std::min<int64_t>(kRows, block_.rows - i);
    const int64_t columns = std::min<int64_t>(kColumns, (block_.columns - j - 1) / apart + 1);
    Tile<kWidth, kRows, kColumns> tile;
    Totals<kRows, kColumns> totals;
    add(Element(), &tile);
    tile.AddUp(&totals);
#if defined(__x86_64__)
    if constexpr (kMayLose) {
      const Weights of_a = WeightsOfA(offset, i);
      if (!AllLarge(totals, of_a.enough))
        Settle<kWidth, Element>(rows, columns, of_a, add, weigh, &totals);
    }
#endif
    totals.AddTo(rows, columns, &space_->sums[i][j], kBlockColumns, apart);
  }

  // The same for few rows of a, without packing b.
  template <class T>
  void AddPlain(int64_t k, int64_t end) {
    if (block_.rows == 1) return AddPlainRows<T, 1>(k, end);
    if (block_.rows == 2) return AddPlainRows<T, 2>(k, end);
    AddPlainRows<T, kM>(k, end);
  }

  // One or two rows of a take those of b from as many parts of the block at once as a group has:
  // each part is then one stream through memory, which machines fetch ahead by themselves. Rows
  // next to each other, each left behind after a page or so, come a sixth slower. More rows of a
  // meet a panel of b several times, and had better ask for the next one meanwhile.
  template <class T, int kRows>
  void AddPlainRows(int64_t k, int64_t end) {
    constexpr bool kAsk = kRows > kFewest;
    const int64_t groups = block_.columns / kN, apart = kAsk ? 1 : groups;
    for (int64_t g = 0; g < groups; ++g)
      AddPlainGroup<T, kRows, kN, kAsk>(k, end, kAsk ? g * kN : g, apart);
    for (int64_t j = groups * kN; j < block_.columns; ++j)
      AddPlainGroup<T, kRows, 1, kAsk>(k, end, j, 1);
  }

  // Adds the products with kColumns rows of b, which are so many rows apart. While it reads a
  // panel, it may ask for the next one: of these rows, or of as many behind them if less than half
  // a panel is left of these.
  template <class T, int kRows, int kColumns, bool kAsk>
  void AddPlainGroup(int64_t k, int64_t end, int64_t j, int64_t apart) {
    const T* const first = static_cast<const T*>(b_.data) + b_.Offset(block_.j + j);
    PlainRows<kWidth, kColumns, T, kAsk> b(first + k, apart * b_.stride);
    for (int64_t at = k; at < end; at += kPlaces, b.Skip(kPlaces)) {
      b.LookAhead(at + kPlaces + kPlaces / 2 < end ? kPlaces : kColumns * b_.stride);
      AddPlainPanel<kRows, kColumns>(at - k, std::min(kPlaces, end - at), j, apart, b);
    }
  }

  // Adds the products of a packed panel of a and of rows of b.
  template <int kRows, int kColumns, class Rows>
  void AddPlainPanel(int64_t offset, int64_t places, int64_t j, int64_t apart, const Rows& b) {
    const int64_t steps = places / kNumbers, over = places % kNumbers;
    float rest[kColumns * kLanes];
    for (int r = 0; r < kColumns && over > 0; ++r)
      Element::template Copy<kWidth>(b.Row(r) + steps * kNumbers, over, rest + r * kLanes);
    const PackedRows<kWidth, kColumns> last{rest};
    PackedRows<kWidth, kRows> a{PanelOfA(offset)};
    for (int64_t i = 0; i < block_.rows; i += kRows) {
      const PackedRows<kWidth, kRows> begin = a, end{a.at + steps * kRows * kLanes};
      const auto add = [=](auto element, auto* tile) {
        tile->template Add<decltype(element)>(begin, b, steps);
        if (over > 0) tile->template Add<decltype(element)>(end, last, 1);
      };
      const auto weigh = [=](int row, auto* magnitudes) {
        Weigh<Element, kWidth>(b, row, steps, magnitudes);
        if (over > 0) Weigh<Element, kWidth>(last, row, 1, magnitudes);
      };
      AddTile<kRows, kColumns>(offset, i, j, apart, add, weigh);
      a.at = end.at + (over > 0 ? kRows * kLanes : 0);
    }
  }

  const Factor& a_;
  const Factor& b_;
  const Block block_;
  const bool plain_;      // whether b is read as it lies in memory
  const int64_t group_;   // rows of a packed group of a
  const int64_t padded_;  // rows of packed panels of a
  ProductSpace* const space_;
};

template <int kWidth, class Element>
inline void RunEither(const Factor& a, const Factor& b, const Block& block, int64_t depth,
                      ProductSpace* space) {
  if (b.along && !b.turned) return Product<kWidth, Element>(a, b, block, space).Run(depth);
  SpreadProduct<kWidth, Element>(a, b, block, space).Run(depth);
}

template <int kWidth>
inline void ReadAs(opcast::DType type, const void* from, int64_t offset, int64_t n, float* to) {
  VisitFactor(type, [&](auto zero) {
    Widen<kWidth>(static_cast<const decltype(zero)*>(from) + offset, to, n);
  });
}

template <int kWidth>
inline void WriteAs(opcast::DType type, const float* from, int64_t n, void* to, int64_t offset) {
  VisitFactor(
      type, [&](auto zero) { Narrow<kWidth>(from, static_cast<decltype(zero)*>(to) + offset, n); });
}

}  // namespace

ProductSpace* SpaceOfThread() {
  thread_local const std::unique_ptr<ProductSpace> space(new ProductSpace);
  return space.get();
}

__attribute__((flatten)) void Multiply(const Factor& a, const Factor& b, const Block& block,
                                       int64_t depth, ProductSpace* space, Width<16>) {
  RunEither<16, Singles>(a, b, block, depth, space);
}
__attribute__((flatten)) void Read(opcast::DType type, const void* from, int64_t offset, int64_t n,
                                   float* to, Width<16>) {
  ReadAs<16>(type, from, offset, n, to);
}
__attribute__((flatten)) void Write(opcast::DType type, const float* from, int64_t n, void* to,
                                    int64_t offset, Width<16>) {
  WriteAs<16>(type, from, n, to, offset);
}

#if defined(__x86_64__)
__attribute__((flatten, target(OPCAST_AVX2))) void Multiply(const Factor& a, const Factor& b,
                                                            const Block& block, int64_t depth,
                                                            ProductSpace* space, Width<32>) {
  RunEither<32, Singles>(a, b, block, depth, space);
}
__attribute__((flatten, target(OPCAST_AVX2))) void Read(opcast::DType type, const void* from,
                                                        int64_t offset, int64_t n, float* to,
                                                        Width<32>) {
  ReadAs<32>(type, from, offset, n, to);
}
__attribute__((flatten, target(OPCAST_AVX2))) void Write(opcast::DType type, const float* from,
                                                         int64_t n, void* to, int64_t offset,
                                                         Width<32>) {
  WriteAs<32>(type, from, n, to, offset);
}

namespace {

__attribute__((flatten, target(OPCAST_AVX512))) void MultiplySingles(
    const Factor& a, const Factor& b, const Block& block, int64_t depth, ProductSpace* space) {
  RunEither<64, Singles>(a, b, block, depth, space);
}

__attribute__((flatten, target(OPCAST_AVX512_BF16))) void MultiplyPairs(
    const Factor& a, const Factor& b, const Block& block, int64_t depth, ProductSpace* space) {
  RunEither<64, Pairs>(a, b, block, depth, space);
}

}  // namespace

void Multiply(const Factor& a, const Factor& b, const Block& block, int64_t depth,
              ProductSpace* space, Width<64>) {
  (TakePairs(a.type, b.type) ? MultiplyPairs : MultiplySingles)(a, b, block, depth, space);
}
__attribute__((flatten, target(OPCAST_AVX512))) void Read(opcast::DType type, const void* from,
                                                          int64_t offset, int64_t n, float* to,
                                                          Width<64>) {
  ReadAs<64>(type, from, offset, n, to);
}
__attribute__((flatten, target(OPCAST_AVX512))) void Write(opcast::DType type, const float* from,
                                                           int64_t n, void* to, int64_t offset,
                                                           Width<64>) {
  WriteAs<64>(type, from, n, to, offset);
}
#endif

}  // namespace opcast_ops
