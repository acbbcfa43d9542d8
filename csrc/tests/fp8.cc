// Holds the conversions of convert_fp8.h against the runtime's, bit for bit: every number of 8 bits
// in every lane, for the vectors that this machine has. The exit code is 1 if one differs.
#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "../cpu/convert_fp8.h"

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
// The same for blocks that keep the numbers as bfloat16, too.
template <class T>
bool SameKept(const char* name) {
  constexpr int kBlock = 32;
  constexpr float kScale = 0.37f;
  T codes[kCodes + kPlaces];
  for (int i = 0; i < kCodes + kPlaces; ++i) codes[i].bits = static_cast<uint8_t>(i);
  for (int first = 0; first < kCodes; ++first) {
    float want[kBlock], got[kBlock];
    opcast::bf16 kept[kBlock];
    opcast_ops::WidenScaled<64>(codes + first, kScale, kBlock, want);
    opcast_ops::WidenScaledBlock(codes + first, kScale, got, kept);
    for (int i = 0; i < kBlock; ++i) {
      const float number = static_cast<float>(codes[first + i]),
                  other = static_cast<float>(kept[i]);
      const bool nan = number != number && other != other;
      if (std::memcmp(&got[i], &want[i], sizeof got[i]) == 0 && (number == other || nan)) continue;
      std::printf("%s: 0x%02x is kept as %g\n", name, codes[first + i].bits, other);
      return false;
    }
  }
  std::printf("%s, kept: the same\n", name);
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
    same &= SameKept<opcast::f8e4m3fn>("f8e4m3fn") && SameKept<opcast::f8e4m3fnuz>("f8e4m3fnuz");
  }
#endif
  return same ? 0 : 1;
}
