// Holds weighted sums of rows against sums in double where terms cancel, for the vectors that this
// machine has: results of 16 bits may be three quarters of their last place off, and the bits of a
// column may depend on that column only. The exit code is 1 if something differs.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "cpu/moe/named_rows.h"
#include "tests/widths.h"

namespace {

using namespace opcast_ops;

constexpr int64_t kRows = 9, kColumns = 333;
constexpr int32_t kNames[] = {0, 1, -1, 2, 3, 8, 4, 5, 7};

bool failed = false;

// The distance of a number from the next one of its type.
template <class T>
double Place(double x) {
  constexpr bool kHalf = std::is_same_v<T, opcast::f16>;
  const int exponent = std::max(std::ilogb(x), kHalf ? -14 : -126);
  return std::ldexp(1, exponent - (kHalf ? 10 : 7));
}

// Rows of which each other one nearly is the opposite of the one before it.
template <class T>
std::vector<T> Rows(std::mt19937* random, double scale) {
  std::normal_distribution<float> normal;
  std::vector<T> rows(kRows * kColumns);
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    const bool opposite = i / kColumns % 2 == 1;
    const float x = normal(*random) * static_cast<float>(scale);
    const float other = opposite ? static_cast<float>(rows[i - kColumns]) : 0;
    rows[i] = Round<T>(opposite && i % 3 != 0 ? -other * (i % 3 == 1 ? 1 : 1.01f) : x);
  }
  return rows;
}

template <int kWidth, class T, class Weight>
void TestSum(const std::vector<T>& matrix, int64_t count, Weight weight, const char* what) {
  std::vector<T> y(kColumns);
  SumRows<kWidth>(NamedRows<T>{matrix.data(), kColumns, kNames, count}, weight, Passing(),
                  y.data());
  for (int64_t j = 0; j < kColumns; ++j) {
    double sum = 0;
    for (int64_t s = 0; s < count; ++s) {
      if (kNames[s] < 0) continue;
      const double x = static_cast<float>(matrix[kNames[s] * kColumns + j]);
      sum += double{weight(s)} * x;
    }
    const double error = std::fabs(static_cast<float>(y[j]) - sum);
    if (sum == 0 ? error == 0 : error <= 0.75 * Place<T>(sum)) continue;
    failed = true;
    std::printf("%s, %d bytes: %g instead of %g, the sum of %d\n", what, kWidth,
                static_cast<double>(static_cast<float>(y[j])), sum, static_cast<int>(count));
  }
}

// Whether each column alone, in rows that begin at some place in memory, has the bits that it has
// beside others.
template <int kWidth, class T, class Y>
void TestColumns(const std::vector<T>& matrix, int64_t count, const char* what) {
  const auto weight = [](int64_t) { return 1.0f; };
  std::vector<Y> y(kColumns + 64);
  Y* const begin = y.data() + (64 - reinterpret_cast<uintptr_t>(y.data()) % 64) / sizeof(Y);
  for (const bool past : {false, true}) {
    const Passing passing{0, past};
    const NamedRows<T> rows{matrix.data(), kColumns, kNames, count};
    SumRows<kWidth>(rows, weight, passing, begin);
    EndStream();
    for (int64_t j = 0; j < kColumns; ++j) {
      T column[kRows];
      for (int64_t i = 0; i < kRows; ++i) column[i] = matrix[i * kColumns + j];
      Y alone;
      SumRows<kWidth>(NamedRows<T>{column, 1, kNames, count}, weight, Passing(), &alone);
      if (std::memcmp(&alone, &begin[j], sizeof alone) == 0) continue;
      failed = true;
      std::printf("%s, %d bytes: column %d differs beside others, the sum of %d\n", what, kWidth,
                  static_cast<int>(j), static_cast<int>(count));
    }
  }
}

// A column whose sum float would spoil, and NaN and infinities in others, some vectors behind. What
// else there is needs no double.
template <int kWidth, class T, class Y>
void TestNeighbours(const char* what) {
  std::mt19937 random(2);
  const float large = std::is_same_v<T, opcast::f16> ? 6e4f : 1e8f;
  for (int round = 0; round < 200; ++round) {
    std::vector<T> rows;
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      rows.push_back(Round<T>(1 + static_cast<float>(random() % 64) / 32));
    const auto column = static_cast<int64_t>(random() % kColumns);
    const float terms[] = {large, 1.5f, -large};
    for (int64_t i = 0; i < 3; ++i) rows[i * kColumns + column] = Round<T>(terms[i]);
    const float odd[] = {NAN, INFINITY, -INFINITY};
    for (int64_t other = column % 4; other < kColumns; other += 4)
      if (other != column && random() % 16 == 0)
        rows[random() % 3 * kColumns + other] = Round<T>(odd[random() % 3]);
    for (int64_t count = 0; count <= kRows; ++count) TestColumns<kWidth, T, Y>(rows, count, what);
  }
}

template <int kWidth, class T>
void TestSums(const char* what) {
  std::mt19937 random(1);
  const float weights[] = {0.3f, 0.3f, 1, 0.7f, 0.7f, 0.1f, 1e-3f, 1e-3f, 5};
  for (double scale : {1.0, 1e-3, 30.0}) {
    const auto rows = Rows<T>(&random, scale);
    for (int64_t count = 0; count <= kRows; ++count) {
      TestSum<kWidth>(rows, count, [&](int64_t s) { return weights[s]; }, what);
      TestSum<kWidth>(rows, count, [&](int64_t s) { return weights[s] * 1e-36f; }, what);
      TestSum<kWidth>(rows, count, [&](int64_t s) { return weights[kRows - 1 - s]; }, what);
      TestSum<kWidth>(rows, count, Ones(), what);
    }
  }
}

template <int kWidth>
void TestAll() {
  TestSums<kWidth, opcast::f16>("float16");
  TestSums<kWidth, opcast::bf16>("bfloat16");
  TestNeighbours<kWidth, opcast::bf16, opcast::bf16>("bfloat16");
  TestNeighbours<kWidth, opcast::f16, opcast::f16>("float16");
  TestNeighbours<kWidth, float, opcast::bf16>("float to bfloat16");
}

}  // namespace

int main() {
  ForEachWidth([](auto width) { TestAll<width>(); });
  return failed ? 1 : 0;
}
