// Philox4x32-10: random numbers that are functions of their place, so that each thread, and each
// device, finds its own (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A stream has a seed and an offset of 64 bits each. Number i of it is word i % 4 of the block that
// has the seed as key and (i / 4, offset) as counter, the lower halves first.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

// Four random words.
struct RandomBlock {
  uint32_t at[4];
};

constexpr int kPhiloxRounds = 10;
constexpr uint64_t kPhiloxFirst = 0xD2511F53, kPhiloxSecond = 0xCD9E8D57;

// The words that a key has in a round.
struct PhiloxKey {
  uint32_t first, second;

  OPCAST_HOST_DEVICE explicit PhiloxKey(uint64_t key)
      : first(static_cast<uint32_t>(key)), second(static_cast<uint32_t>(key >> 32)) {}

  OPCAST_HOST_DEVICE void Next() {
    first += 0x9E3779B9;
    second += 0xBB67AE85;
  }
};

// The block of a key and a counter of 128 bits.
OPCAST_HOST_DEVICE inline RandomBlock Philox(uint64_t key, uint64_t low, uint64_t high) {
  uint32_t x = static_cast<uint32_t>(low), y = static_cast<uint32_t>(low >> 32);
  uint32_t z = static_cast<uint32_t>(high), w = static_cast<uint32_t>(high >> 32);
  PhiloxKey keys(key);
#if !defined(__CUDACC__)  // which unrolls such loops by itself, and warns of the words
#pragma GCC unroll 10
#endif
  for (int round = 0; round < kPhiloxRounds; ++round, keys.Next()) {
    const uint64_t first = kPhiloxFirst * x, second = kPhiloxSecond * z;
    x = static_cast<uint32_t>(second >> 32) ^ y ^ keys.first;
    z = static_cast<uint32_t>(first >> 32) ^ w ^ keys.second;
    y = static_cast<uint32_t>(second);
    w = static_cast<uint32_t>(first);
  }
  return {{x, y, z, w}};
}

// A random word as an integer below kUniforms; divided by that, it is a number of [0, 1).
constexpr int32_t kUniforms = 1 << 24;
OPCAST_HOST_DEVICE inline int32_t Uniform(uint32_t word) { return static_cast<int32_t>(word >> 8); }

// The stream of a seed and an offset.
class RandomStream {
 public:
  // Of i32 or i64; what is negative stands for what is as much below 2^64.
  template <class I>
  OPCAST_HOST_DEVICE RandomStream(I seed, I offset)
      : key_(static_cast<uint64_t>(int64_t{seed})),
        offset_(static_cast<uint64_t>(int64_t{offset})) {}

  OPCAST_HOST_DEVICE uint64_t Key() const { return key_; }
  OPCAST_HOST_DEVICE uint64_t Offset() const { return offset_; }

  // Numbers 4 n to 4 n + 3.
  OPCAST_HOST_DEVICE RandomBlock BlockAt(int64_t n) const {
    return Philox(key_, static_cast<uint64_t>(n), offset_);
  }
  // Number i, from 0 up to below 1.
  OPCAST_HOST_DEVICE double UniformAt(int64_t i) const {
    const RandomBlock block = BlockAt(i / 4);
    const int64_t word = i % 4;
    const uint32_t first = word == 0 ? block.at[0] : block.at[1];
    const uint32_t second = word == 2 ? block.at[2] : block.at[3];
    return static_cast<double>(Uniform(word < 2 ? first : second)) / kUniforms;
  }

 private:
  uint64_t key_, offset_;
};

}  // namespace opcast_ops
