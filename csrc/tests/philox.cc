// Holds Philox against the known answers of its authors (kat_vectors of Random123), and its vectors
// against it. The exit code is 1 if a word differs.
#include "common/philox.h"

#include <cstdio>
#include <random>

#include "cpu/random/philox_lanes.h"
#include "tests/widths.h"

namespace {

using namespace opcast_ops;

struct Known {
  uint64_t key, low, high;
  uint32_t words[4];
};

constexpr Known kKnown[] = {
    {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {0x299f31d0a4093822,
     0x85a308d3243f6a88,
     0x0370734413198a2e,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

// Whether vectors compare numbers in another way than the generator says, at places up to where
// counters have more than 32 bits.
template <int kWidth>
bool LanesDiffer() {
  std::mt19937_64 random(1);
  constexpr int32_t kBounds[] = {0, 1, kUniforms / 2, kUniforms - 1, kUniforms};
  bool differ = false;
  for (int round = 0; round < 2000; ++round) {
    const auto place = static_cast<int64_t>(random() >> (2 + random() % 60));
    const int64_t n = round % 50 == 0 ? (int64_t{1} << 32) - 4 : place;
    const int64_t seed[] = {static_cast<int64_t>(random()), static_cast<int64_t>(random())};
    const RandomStream stream(seed[0], seed[1]);
    const int32_t least =
        round % 2 == 0 ? kBounds[random() % 5] : static_cast<int32_t>(random() % kUniforms);
    const uint64_t bits = UniformLanes<kWidth>(stream).AtLeast(least, n);
    for (int i = 0; i < kWidth; ++i) {
      const bool expected = Uniform(stream.BlockAt(n + i / 4).at[i % 4]) >= least;
      differ |= (bits >> i & 1) != expected;
    }
  }
  if (differ) std::printf("vectors of %d bytes differ\n", kWidth);
  return differ;
}

}  // namespace

int main() {
  bool failed = false;
  ForEachWidth([&failed](auto width) { failed |= LanesDiffer<width>(); });
  for (const Known& known : kKnown) {
    const opcast_ops::RandomBlock block = opcast_ops::Philox(known.key, known.low, known.high);
    const int64_t seed[] = {static_cast<int64_t>(known.key), static_cast<int64_t>(known.high)};
    const opcast_ops::RandomStream stream(seed[0], seed[1]);
    for (int i = 0; i < 4; ++i) {
      const auto place = static_cast<int64_t>(known.low);
      const double uniform = (known.words[i] >> 8) / 16777216.0;
      bool same = block.at[i] == known.words[i] && stream.BlockAt(place).at[i] == known.words[i];
      if (place == 0) same &= stream.UniformAt(i) == uniform;
      if (!same) std::printf("key %llx: word %d is wrong\n", (unsigned long long)known.key, i);
      failed |= !same;
    }
  }
  return failed ? 1 : 0;
}
