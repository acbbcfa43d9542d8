// Tests of what kernels see of the runtime. Prints "ok N checks"; a failed check prints its line
// and the exit code is 1.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "opcast/kernel.h"

namespace {

using opcast::detail::Bits;
using opcast::detail::FromBits;

const opcast::Launch kLaunch{1, 0, nullptr};
std::atomic<int64_t> checks{0}, failures{0};

void Check(bool ok, int line, double detail = 0) {
  ++checks;
  if (!ok && failures++ < 20) std::printf("runtime_test.cc:%d: failed (%.17g)\n", line, detail);
}
#define CHECK(...) Check(__VA_ARGS__, __LINE__)
#define CHECK_FOR(detail, ...) Check(__VA_ARGS__, __LINE__, detail)

bool Same(float a, float b) { return Bits(a) == Bits(b) || (std::isnan(a) && std::isnan(b)); }

// A format, described independently of the conversions: mantissa bits, smallest normal exponent,
// largest finite value, and what lies beyond.
struct Format {
  int mantissa, min_exponent;
  double max, overflow;
  bool signed_zero;
};

// x in the format, found by rounding a scaled integer.
float Reference(const Format& format, float x) {
  if (std::isnan(x)) return x;
  const double magnitude = std::fabs(static_cast<double>(x));
  int exponent = format.min_exponent;
  if (magnitude > 0 && std::isfinite(magnitude))
    exponent = std::max(exponent, std::ilogb(magnitude));
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa - exponent));
  const double rounded = std::ldexp(units, exponent - format.mantissa);
  const double result = rounded <= format.max ? rounded : format.overflow;
  if (result == 0 && !format.signed_zero) return 0;
  return static_cast<float>(std::copysign(result, x));
}

template <class T>
void CheckNarrowing(const Format& format, float x) {
  CHECK_FOR(x, Same(static_cast<float>(T(x)), Reference(format, x)));
}

template <class T, class Code>
void TestFormat(const Format& format) {
  T last{};
  for (int64_t code = 0; code < int64_t{1} << (8 * sizeof(Code)); ++code) {
    T value;
    value.bits = static_cast<Code>(code);
    const float wide = static_cast<float>(value);
    CHECK_FOR(wide, Same(static_cast<float>(T(wide)), wide));
    CHECK_FOR(wide, std::isnan(wide) || T(wide).bits == value.bits);
    CheckNarrowing<T>(format, wide);
    // Around the midpoint between neighbouring values, where ties and carries happen.
    const float middle = (static_cast<float>(last) + wide) / 2;
    CheckNarrowing<T>(format, middle);
    CheckNarrowing<T>(format, std::nextafter(middle, INFINITY));
    CheckNarrowing<T>(format, std::nextafter(middle, -INFINITY));
    last = value;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000000; ++i)
    CheckNarrowing<T>(format, FromBits(static_cast<uint32_t>(random())));
}

void TestConversions() {
  const double inf = INFINITY, nan = NAN;
  TestFormat<opcast::f16, uint16_t>({10, -14, 65504, inf, true});
  TestFormat<opcast::bf16, uint16_t>({7, -126, 0x1.fep127, inf, true});
  TestFormat<opcast::f8e4m3fn, uint8_t>({3, -6, 448, nan, true});
  TestFormat<opcast::f8e4m3fnuz, uint8_t>({3, -7, 240, nan, false});
  TestFormat<opcast::f8e5m2, uint8_t>({2, -14, 57344, inf, true});
  TestFormat<opcast::f8e5m2fnuz, uint8_t>({2, -15, 57344, nan, false});
  CHECK(opcast::f16(-0.0f).bits == 0x8000 && opcast::bf16(-0.0f).bits == 0x8000);
  CHECK(opcast::bf16(FromBits(0x7f800001)).bits == 0x7fc0);  // a payload that the cut would lose
  for (int code = 0; code < 255; ++code) {
    opcast::f8e8m0fnu value;
    value.bits = static_cast<uint8_t>(code);
    const float wide = static_cast<float>(value);
    CHECK_FOR(wide, wide == std::ldexp(1.0, code - 127) && opcast::f8e8m0fnu(wide).bits == code);
    CHECK_FOR(wide, opcast::f8e8m0fnu(wide * 1.49f).bits == code);
    CHECK_FOR(wide, opcast::f8e8m0fnu(wide * 1.5f).bits == code + 1);
  }
  for (const float x : {0.0f, -0.0f, -1.0f, NAN, INFINITY, -INFINITY}) {
    CHECK_FOR(x, std::isnan(static_cast<float>(opcast::f8e8m0fnu(x))));
  }
}

void TestFourBits() {
  const float numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int code = 0; code < 16; ++code) {
    opcast::f4e2m1fn value;
    value.bits = static_cast<uint8_t>(code);
    const float wide = static_cast<float>(value);
    CHECK_FOR(wide, Same(wide, code < 8 ? numbers[code] : -numbers[code - 8]));
    CHECK_FOR(wide, opcast::f4e2m1fn(wide * 1.001f).bits == code);
  }
  for (float x = -9; x < 9; x += 1.0f / 64)  // with all ties, and what is beyond the largest number
    CheckNarrowing<opcast::f4e2m1fn>({1, 0, 6, 6, true}, x);
  CHECK(opcast::f4e2m1fn(NAN).bits % 8 == 7 && opcast::f4e2m1fn(-INFINITY).bits == 15);
}

void TestTags() {
  CHECK(static_cast<int>(opcast::DType::kF32) == (2 << 8 | 32));
  CHECK(static_cast<int>(opcast::DType::kBf16) == (4 << 8 | 16));
}

void TestLayout() {
  const int64_t shape[] = {2, 3, 4, 5}, strides[] = {-100, 0, 7, 1};
  const opcast::Layout matrices{4, shape, strides, 2};
  for (int64_t i = 0; i < 6; ++i) CHECK(matrices.Batch(i) == i / 3 * -100);
  CHECK(matrices.Stride(-1) == 1 && matrices.Stride(-2) == 7);
  const opcast::Layout rows{4, shape, strides, 1};
  for (int64_t i = 0; i < 24; ++i) CHECK(rows.Batch(i) == i / 12 * -100 + i % 4 * 7);
  CHECK((opcast::Layout{2, shape, strides, 2}.Batch(0)) == 0);
}

// Runs a loop and checks that it covers [0, n) once, in chunks of `grain`.
void CheckLoop(int64_t n, int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
  opcast::ParallelFor(kLaunch, n, grain, [&](int64_t begin, int64_t end) {
    CHECK(begin % grain == 0 && end == std::min(begin + grain, n));
    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
  });
  for (const auto& count : seen) CHECK(count == 1);
}

void TestLoops() {
  for (const int64_t n : {0, 1, 2, 7, 100, 4097}) {
    for (const int64_t grain : {1, 3, 64, 100000}) CheckLoop(n, grain);
  }
  const auto caller = std::this_thread::get_id();
  opcast::ParallelFor(kLaunch, 5, 5,
                      [&](int64_t, int64_t) { CHECK(std::this_thread::get_id() == caller); });
}

void TestManyCallers() {
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([i] {
      for (int round = 0; round < 100; ++round) CheckLoop(97 + i, 1 + round % 5);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

void TestNesting() {
  std::atomic<int> sum{0};
  opcast::ParallelFor(kLaunch, 20, 1, [&](int64_t, int64_t) {
    const auto outer = std::this_thread::get_id();
    opcast::ParallelFor(kLaunch, 10, 1, [&](int64_t begin, int64_t) {
      CHECK(std::this_thread::get_id() == outer);
      sum += static_cast<int>(begin);
    });
  });
  CHECK(sum == 20 * 45);
}

void TestExceptions() {
  for (int round = 0; round < 50; ++round) {
    bool caught = false;
    try {
      opcast::ParallelFor(kLaunch, 1000, 1, [](int64_t begin, int64_t) {
        if (begin % 10 == 3) throw std::runtime_error("no");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    CheckLoop(50, 1);
  }
}

void TestFork() {
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a pool without threads hangs
      failures = 0;
      CheckLoop(1000, 1);
      _exit(failures == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CheckLoop(1000, 1);
  }
}

// Every body does the same arithmetic, whatever its vectors.
void TestBodies() {
  std::vector<float> x(1003), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 1e4f;
  auto loop = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const size_t at = static_cast<size_t>(i);
      y[at] = static_cast<float>(opcast::f16(x[at] * x[at] + 0.1f));
    }
  };
  using Bodies = opcast::detail::Bodies<decltype(loop)>;
  Bodies::Baseline(&loop, 0, static_cast<int64_t>(x.size()));
  const std::vector<float> expected = y;
#if defined(__x86_64__)
  const opcast::detail::Simd simd = opcast::detail::BestSimd();
  if (simd >= opcast::detail::Simd::kAvx2) Bodies::Avx2(&loop, 0, static_cast<int64_t>(x.size()));
  CHECK(y == expected);
  if (simd >= opcast::detail::Simd::kAvx512)
    Bodies::Avx512(&loop, 0, static_cast<int64_t>(x.size()));
#endif
  CHECK(y == expected);
  int width = 0;
  opcast::ParallelFor(kLaunch, 1, 1, [&](int64_t, int64_t, auto bytes) { width = bytes; });
  CHECK_FOR(width, width == 16 || width == 32 || width == 64);
}

#if defined(__x86_64__)

constexpr unsigned kFlushing = 0x9fc0;  // flush-to-zero and denormals-are-zero
unsigned Mxcsr() { return __builtin_ia32_stmxcsr() & ~0x3fu; }

void TestEnvironment() {
  __builtin_ia32_ldmxcsr(kFlushing);
  {
    const opcast::FpEnv environment;
    CHECK(Mxcsr() == 0x1f80);
    volatile float small = 3e-39f;
    CHECK(small * 0.5f != 0);
  }
  CHECK(Mxcsr() == kFlushing);
  // What the caller saw happen is neither lost nor added to, whatever its settings are.
  for (const unsigned word : {0x1f80u, 0x1fa0u, 0x1f81u, kFlushing, 0xffbfu, 0x1f00u}) {
    __builtin_ia32_ldmxcsr(word);
    {
      const opcast::FpEnv environment;
      CHECK_FOR(word, Mxcsr() == 0x1f80);
      volatile double third = 3, tiny = 1e-300;
      third = 1 / third, tiny = tiny * tiny;
    }
    CHECK_FOR(word, __builtin_ia32_stmxcsr() == word);
  }
  __builtin_ia32_ldmxcsr(kFlushing);
  // The first loop of the process starts the workers from here; they must not inherit these
  // settings.
  const auto caller = std::this_thread::get_id();
  opcast::ParallelFor(kLaunch, 1000, 1, [&](int64_t, int64_t) {
    CHECK(Mxcsr() == 0x1f80 || std::this_thread::get_id() == caller);
    std::this_thread::yield();
  });
  for (uint32_t code = 0; code < 65536;
       ++code) {  // conversions do not need the default environment
    const opcast::f16 half{static_cast<float>(FromBits(0x33000000 + code * 0x1000))};
    __builtin_ia32_ldmxcsr(0x1f80);
    const opcast::f16 again{static_cast<float>(FromBits(0x33000000 + code * 0x1000))};
    __builtin_ia32_ldmxcsr(kFlushing);
    CHECK(half.bits == again.bits && Bits(half) == Bits(again));
  }
  __builtin_ia32_ldmxcsr(0x1f80);
}

#else

void TestEnvironment() {}

#endif

}  // namespace

int main() {
  setenv("TEST_NUM_THREADS", "4", 1);  // OPCAST_COLLECTION is "test"
  TestEnvironment();
  TestTags();
  TestLayout();
  TestConversions();
  TestFourBits();
  TestLoops();
  TestManyCallers();
  TestNesting();
  TestExceptions();
  TestFork();
  TestBodies();
  if (failures > 0) return 1;
  std::printf("ok %lld checks\n", static_cast<long long>(checks));
}
