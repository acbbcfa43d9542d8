// How rows of the cache come to shared memory: a thread reads its parts of the next rows while the
// block computes with those before, and converts them when there is room.
//
// A class that has rows (see MlaCall) says where they are:
//   using Code                                  the type of the codes
//   int64_t Place(int64_t row) const            any number by which it knows a row again
//   const uint8_t* Part(int64_t place, int part) const   8 bytes: 56 parts are codes, 16 rotary
//   float Scale(int64_t place, int tile) const  of one of kScales tiles
#pragma once

#include <type_traits>

#include "cuda/attention/flash_mla_shared_memory.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kCodeParts = kPlain / 8, kRowParts = kCodeParts + kRotary / 4;
constexpr int kRowThreads = kThreads / kRows;  // that read a row
constexpr int kOwnParts = (kRowParts + kRowThreads - 1) / kRowThreads;
static_assert(kRowThreads >= kTiles);

// What a thread has read of its row.
struct RowParts {
  uint64_t parts[kOwnParts];
  float scale;  // of the thread's tile, if it has one

  OPCAST_DEVICE static int Row() { return threadIdx.x / kRowThreads; }
  OPCAST_DEVICE static int Own() { return threadIdx.x % kRowThreads; }

  // Reads one of the `count` rows from `first` on, zeros if there is none.
  template <class Call>
  OPCAST_DEVICE void Read(const Call& call, int64_t first, int count) {
    const bool there = Row() < count;
    const int64_t place = there ? call.Place(first + Row()) : 0;
    OPCAST_UNROLL
    for (int i = 0; i < kOwnParts; ++i) {
      const int part = Own() + i * kRowThreads;
      parts[i] = 0;
      if (there && part < kRowParts) parts[i] = ReadPart(call.Part(place, part), call.aligned);
    }
    scale = there ? 1 : 0;
    if (there && Own() < kScales) scale = call.Scale(place, Own());
  }

  template <class Code>
  OPCAST_DEVICE void Write(Shared& shared) const {
    bf16* const to = shared.rows + Row() * kLine;
    OPCAST_UNROLL
    for (int i = 0; i < kOwnParts; ++i) {
      const int part = Own() + i * kRowThreads;
      if (part < kCodeParts) {
        Store<true>(Numbers<Code>(parts[i]), to, part * 8, kPlain);
      } else if (part < kRowParts) {
        Rotary four;
        __builtin_memcpy(&four, &parts[i], sizeof four);
        *reinterpret_cast<Rotary*>(to + kPlain + (part - kCodeParts) * 4) = four;
      }
    }
    if (Own() < kTiles) shared.scales[Own() * kRows + Row()] = scale;
  }

 private:
  struct alignas(8) Rotary {
    bf16 at[4];
  };

  OPCAST_DEVICE static uint64_t ReadPart(const uint8_t* from, bool aligned) {
    if (aligned) return *reinterpret_cast<const uint64_t*>(from);
    uint64_t part = 0;
    OPCAST_NO_UNROLL
    for (int i = 0; i < 8; ++i) part |= uint64_t{from[i]} << (8 * i);
    return part;
  }

  // Codes as numbers. A code's exponent and fraction are those of a tiny float, which a product
  // with a power of two makes right; NaN is seldom and takes the long way.
  template <class Code>
  OPCAST_DEVICE static Vector<bf16> Numbers(uint64_t codes) {
    constexpr bool kFn = std::is_same_v<Code, opcast::f8e4m3fn>;
    static_assert(kFn || std::is_same_v<Code, opcast::f8e4m3fnuz>);
    constexpr float kUp = kFn ? 0x1p120f : 0x1p119f;
    float numbers[8];
    uint32_t special = 0;
    OPCAST_UNROLL
    for (int i = 0; i < 8; ++i) {
      const uint32_t code = codes >> (8 * i) & 0xff, magnitude = code & 0x7f;
      numbers[i] = opcast::detail::FromBits(magnitude << 20 | (code & 0x80) << 24) * kUp;
      special |= kFn ? magnitude == 0x7f : code == 0x80;
    }
    if (special != 0) {
      OPCAST_UNROLL
      for (int i = 0; i < 8; ++i) {
        Code code;
        code.bits = static_cast<uint8_t>(codes >> (8 * i));
        numbers[i] = static_cast<float>(code);
      }
    }
    Vector<bf16> vector;
    OPCAST_UNROLL
    for (int i = 0; i < 8; i += 2) opcast::Narrow(numbers[i], numbers[i + 1], &vector.at[i]);
    return vector;
  }
};

}  // namespace opcast_ops
