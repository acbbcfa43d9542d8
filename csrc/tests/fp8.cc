// Holds the conversions of scaled_8_bits.h and flash_mla_rows.h against the runtime's, bit for bit:
// every number of 8 bits in every lane, for the vectors that this machine has. The exit code is 1
// if one differs.
#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "cpu/attention/flash_mla_rows.h"

namespace {

constexpr int kCodes = 256, kPlaces = 64;

template <int kWidth, class T>
bool Same(const char* name) {
  T codes[kCodes + kPlaces];
  for (int i = 0; i < kCodes + kPlaces; ++i) codes[i].bits = static_cast<uint8_t>(i);
  for (int first = 0; first < kPlaces; ++first) {
    for (float scale : {1.0f, 0.37f, 448.0f, 3e38f, 1e-42f, 0.0f, INFINITY}) {
      float got[kCodes];
      opcast_ops::WidenScaled<kWidth>(codes + first, scale, kCodes, got);
      for (int i = 0; i < kCodes; ++i) {
        const float want = static_cast<float>(codes[first + i]) * scale;
        if (std::memcmp(&got[i], &want, sizeof want) == 0 || (got[i] != got[i] && want != want))
          continue;
        std::printf("%s, %d bytes: 0x%02x * %g is %g, not %g\n", name, kWidth,
                    codes[first + i].bits, scale, got[i], want);
        return false;
      }
    }
  }
  std::printf("%s, %d bytes: the same\n", name, kWidth);
  return true;
}

#if defined(__x86_64__)
// The same for 32 numbers of four rows, none of them NaN, which are also kept as pairs of bfloat16.
template <class T>
bool SameKept(const char* name) {
  constexpr int kBlock = 32, kFour = opcast_ops::kFour;
  constexpr float kScales[kFour] = {0.37f, 1, 448, 1e-42f};
  T codes[kCodes + kPlaces];
  for (int i = 0; i < kCodes + kPlaces; ++i) {
    codes[i].bits = static_cast<uint8_t>(i);
    if (std::isnan(static_cast<float>(codes[i]))) codes[i].bits = 1;
  }
  for (int first = 0; first < kCodes; ++first) {
    const T* const rows[kFour] = {codes + first, codes + first + 5, codes, codes + kPlaces};
    alignas(64) static float got[kFour][opcast_ops::kColumns], kept[kBlock / 2][kFour];
    opcast_ops::ReadCodes(rows, 0, kScales, got[0], kept[0]);
    for (int i = 0; i < kBlock * kFour; ++i) {
      const int r = i % kFour, j = i / kFour;
      const float number = static_cast<float>(rows[r][j]), want = number * kScales[r];
      opcast::bf16 pair[2];
      std::memcpy(pair, &kept[j / 2][r], sizeof pair);
      const float other = static_cast<float>(pair[j % 2]);
      if (std::memcmp(&got[r][j], &want, sizeof want) == 0 && number == other) continue;
      std::printf("%s: 0x%02x * %g is %g, and kept as %g\n", name, rows[r][j].bits, kScales[r],
                  got[r][j], other);
      return false;
    }
  }
  std::printf("%s, four rows: the same\n", name);
  return true;
}

// Whether NaN are found, wherever they are.
template <class T>
bool FindsNan(const char* name) {
  constexpr int kBlock = 64;
  T codes[kBlock];
  for (int bits = 0; bits < kCodes; ++bits) {
    for (int place = 0; place < kBlock; ++place) {
      for (T& code : codes) code.bits = 1;
      codes[place].bits = static_cast<uint8_t>(bits);
      const bool want = std::isnan(static_cast<float>(codes[place]));
      if (opcast_ops::HasNan(codes, kBlock) == want) continue;
      std::printf("%s: 0x%02x at %d is%s taken for NaN\n", name, bits, place, want ? " not" : "");
      return false;
    }
  }
  std::printf("%s, NaN: all found\n", name);
  return true;
}
#endif

template <int kWidth>
bool AllSame() {
  const bool fn = Same<kWidth, opcast::f8e4m3fn>("f8e4m3fn");
  return Same<kWidth, opcast::f8e4m3fnuz>("f8e4m3fnuz") && fn;
}

}  // namespace

int main() {
  bool same = AllSame<16>();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) same &= AllSame<32>();
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    same &= AllSame<64>();
    same &= SameKept<opcast::f8e4m3fn>("f8e4m3fn") & SameKept<opcast::f8e4m3fnuz>("f8e4m3fnuz");
    same &= FindsNan<opcast::f8e4m3fn>("f8e4m3fn") & FindsNan<opcast::f8e4m3fnuz>("f8e4m3fnuz");
  }
#endif
  return same ? 0 : 1;
}
