// Holds the loops of map_elements.h and the sums of row_reductions.h against plain ones, for the
// vectors that this machine has: all numbers of elements around those of a vector, at some places
// in memory, through the cache and past it. The exit code is 1 if something differs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "cpu/lib/row_reductions.h"
#include "tests/widths.h"

namespace {

using namespace opcast_ops;

constexpr int kMost = 150;  // elements: more than two steps of the longest loop
constexpr float kGuard = 77;

bool failed = false;

void Check(bool holds, const char* what, int width, int64_t n, int place) {
  if (holds) return;
  failed = true;
  std::printf("%s, %d bytes: wrong for %d elements at %d\n", what, width, static_cast<int>(n),
              place);
}

// Numbers with a NaN, an infinity and zeros of both signs among them.
float Number(int64_t i) {
  constexpr float kOdd[] = {NAN, INFINITY, -0.0f, 0.0f};
  return i % 37 < 4 ? kOdd[i % 37] : static_cast<float>(i * 7919 % 1009 - 500) / 64;
}

template <class T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <int kWidth, class Y, class X>
bool MapsAt(bool moves, bool past, int64_t n, int place, const X* x, const X* z, Y* y) {
  const auto f = [](float x, float z) { return Fma<kWidth>(x, z, 1); };
  for (int i = 0; i < kMost + 66; ++i) y[i] = Y(kGuard);
  if (moves)
    MoveTo<kWidth>(Stores<>{past}, n, f, y + place, x + place, z + place);
  else
    MapTo<kWidth>(Stores<>{past}, n, f, y + place, x + place, z + place);
  bool same = true;
  for (int i = 0; i < kMost + 66; ++i) {
    const float whole = f(static_cast<float>(x[i]), static_cast<float>(z[i]));
    same &= SameBits(y[i], i < place || i >= place + n ? Y(kGuard) : Round<Y>(whole));
  }
  return same;
}

template <int kWidth, class Y, class X>
void TestMaps(const char* what) {
  std::vector<X> x, z;
  std::vector<Y> y(kMost + 66);
  for (int i = 0; i < kMost + 66; ++i) {
    x.push_back(Round<X>(Number(i)));
    z.push_back(Round<X>(Number(i + 5) * 3));
  }
  for (int place : {0, 1, 2, 7, 31, 63})
    for (int64_t n = 0; n <= kMost; ++n)
      for (bool past : {false, true})
        for (bool moves : {false, true})
          Check(MapsAt<kWidth>(moves, past, n, place, x.data(), z.data(), y.data()), what, kWidth,
                n, place);
}

// Numbers that stay as they are keep the bits of a NaN, wherever it stands.
template <int kWidth>
void TestNan() {
  constexpr uint32_t kSignalling = 0xffa12345;
  std::vector<uint32_t> x(kMost, kSignalling), y(kMost + 1);
  const auto same = [](float x) { return x; };
  for (int64_t n = 0; n <= kMost; ++n)
    for (bool past : {false, true}) {
      std::fill(y.begin(), y.end(), 0);
      MoveTo<kWidth>(Stores<NoNan>{past}, n, same, reinterpret_cast<float*>(y.data() + 1),
                     reinterpret_cast<const float*>(x.data()));
      const bool kept = std::count(y.begin(), y.end(), kSignalling) == n;
      Check(kept, "NaN of floats that stay", kWidth, n, 1);
    }
}

// Whether a sum is near the plain one, and the checks of elements see each of them.
template <int kWidth, class T>
void TestSums(const char* what) {
  std::vector<T> x;
  for (int i = 0; i < kMost; ++i) x.push_back(Round<T>(static_cast<float>(i % 11) - 5));
  for (int64_t n = 1; n <= kMost; ++n) {
    double squares = 0;
    for (int i = 0; i < n; ++i) squares += std::pow(static_cast<float>(x[i]), 2);
    float y[kMost];
    const auto square = [](float x) { return x * x; };
    Check(SumOfSquares<kWidth>(n, x.data()) == squares, what, kWidth, n, 0);
    const auto store = [&y](int64_t i, const Lanes<kWidth>& lanes, int64_t count) {
      lanes.StoreSome(y + i, count);
    };
    std::fill(y, y + kMost, kGuard);
    const auto same = [](float x) { return x; };
    const auto term = [](Floats<kWidth>* x) { x->all *= x->all; };
    const double sum = MapAndSum<kWidth>(n, same, term, store, x.data());
    bool right = sum == squares;
    for (int64_t i = 0; i < kMost; ++i)
      right &= y[i] == (i < n ? static_cast<float>(x[i]) : kGuard);
    Check(right, what, kWidth, n, 0);
    for (int64_t bad = 0; bad <= n; ++bad) {
      T* const place = bad < n ? &x[bad] : nullptr;
      const T kept = place == nullptr ? T(0.0f) : *place;
      if (place != nullptr) *place = T(99.0f);
      const auto holds = [](float x) { return x < 99; };
      const bool all = place == nullptr;
      Check(AllOf<kWidth>(n, holds, x.data()) == all, what, kWidth, n, bad);
      Check(MapAndCheck<kWidth>(n, square, holds, y, x.data()) == all, what, kWidth, n, bad);
      if (place != nullptr) *place = kept;
    }
  }
}

template <int kWidth>
void TestAll() {
  TestMaps<kWidth, float, float>("floats to floats");
  TestMaps<kWidth, opcast::f16, opcast::f16>("float16 to float16");
  TestMaps<kWidth, opcast::bf16, opcast::bf16>("bfloat16 to bfloat16");
  TestMaps<kWidth, opcast::bf16, float>("floats to bfloat16");
  TestMaps<kWidth, float, opcast::bf16>("bfloat16 to floats");
  TestNan<kWidth>();
  TestSums<kWidth, float>("sums of floats");
  TestSums<kWidth, opcast::f16>("sums of float16");
  TestSums<kWidth, opcast::bf16>("sums of bfloat16");
}

}  // namespace

int main() {
  ForEachWidth([](auto width) { TestAll<width>(); });
  return failed ? 1 : 0;
}
