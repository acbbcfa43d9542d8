// Which strided memory may be overwritten, and which arrays share memory. Prints "ok N checks".
#include <climits>
#include <map>
#include <random>

#include "ffi_check.h"

namespace {

// Strided memory as a kernel would overwrite it.
std::string Overwrite(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides,
                      bool last = true) {
  alignas(8) static float data[64] = {};
  Raw raw(data + 32, sizes);
  raw.Step(strides);
  return Thrown([&] {
    const Call call("op", &raw.any, 1, 1);
    const Tensor t = call.Array(0, "x");
    if (last) call.LastDense(t);
    call.Distinct(t);
  });
}

void Overwritten() {
  Expect(Overwrite({2, 4}, {4, 1}), "");
  Expect(Overwrite({2, 4}, {6, 1}), "");
  Expect(Overwrite({2, 4}, {-6, 1}), "");
  Expect(Overwrite({2, 4}, {6, -1}, false), "");
  Expect(Overwrite({1, 4}, {0, 1}), "");
  Expect(Overwrite({0, 4}, {0, 0}), "");
  Expect(Overwrite({}, {}), "");
  Expect(Overwrite({2, 4}, {8, 2}),
         "ValueError: op: x: expected a contiguous last dimension, got strides [8, 2]");
  Expect(Overwrite({2, 4}, {8, -1}),
         "ValueError: op: x: expected a contiguous last dimension, got strides [8, -1]");
  const char* shared = "ValueError: op: x: expected memory without overlap, got strides ";
  Expect(Overwrite({2, 4}, {0, 1}), shared + std::string("[0, 1]"));
  Expect(Overwrite({2, 4}, {3, 1}), shared + std::string("[3, 1]"));
  Expect(Overwrite({2, 4}, {-3, 1}), shared + std::string("[-3, 1]"));
  Expect(Overwrite({2, 2, 4}, {4, 4, 1}), shared + std::string("[4, 4, 1]"));
  Expect(Overwrite({2, 4}, {1, 0}, false), shared + std::string("[1, 0]"));
  Expect(Overwrite({2, 2}, {INT64_MIN, 1}), shared + std::string("[-9223372036854775808, 1]"));
  Expect(Overwrite({3, 2}, {INT64_MAX, 1}), shared + std::string("[9223372036854775807, 1]"));
}

// What Apart says of two arrays in one buffer.
std::string Beside(Raw& a, Raw& b) {
  return Thrown([&] {
    const TVMFFIAny any[2] = {a.any, b.any};
    const Call call("op", any, 2, 2);
    const Tensor x = call.Array(0, "x"), y = call.Array(1, "y");
    call.Apart(x, {&y});
  });
}

std::string Beside(float* at, std::initializer_list<int64_t> sizes,
                   std::initializer_list<int64_t> strides, float* at_other,
                   std::initializer_list<int64_t> sizes_other,
                   std::initializer_list<int64_t> strides_other) {
  Raw a(at, sizes), b(at_other, sizes_other);
  a.Step(strides), b.Step(strides_other);
  return Beside(a, b);
}

void Neighbours() {
  alignas(8) static float data[256] = {};
  float* at = data + 64;
  const std::string overlap =
      "ValueError: op: x: expected memory apart from y, got overlapping memory";
  Expect(Beside(at, {4}, {1}, at + 4, {4}, {1}), "");
  Expect(Beside(at, {4}, {1}, at + 3, {4}, {1}), overlap);
  Expect(Beside(at, {4}, {1}, at - 4, {4}, {1}), "");
  Expect(Beside(at, {4}, {1}, at, {0}, {1}), "");
  Expect(Beside(at, {0}, {1}, at, {4}, {1}), "");
  // Column halves of one buffer interleave without meeting.
  Expect(Beside(at, {3, 4}, {8, 1}, at + 4, {3, 4}, {8, 1}), "");
  Expect(Beside(at, {3, 4}, {8, 1}, at + 3, {3, 4}, {8, 1}), overlap);
  Expect(Beside(at, {3, 4}, {8, 1}, at + 12, {3, 4}, {8, 1}), "");
  Expect(Beside(at, {3, 4}, {8, 1}, at + 13, {3, 4}, {8, 1}), overlap);
  Expect(Beside(at, {3, 4}, {8, 1}, at + 8, {3, 4}, {8, 1}), overlap);
  Expect(Beside(at, {3, 4}, {-8, 1}, at - 4, {3, 4}, {-8, 1}), "");
  Expect(Beside(at, {3, 4}, {-8, 1}, at + 4, {3, 4}, {-8, 1}), "");
  Expect(Beside(at, {4}, {2}, at + 1, {4}, {2}), "");
  Expect(Beside(at, {4}, {2}, at + 2, {4}, {2}), overlap);
  // A dim of one element has no stride to speak of.
  Expect(Beside(at, {1, 3, 4}, {99, 8, 1}, at + 4, {1, 3, 4}, {7, 8, 1}), "");
  Expect(Beside(at, {1, 3, 4}, {99, 8, 1}, at + 4, {3, 4}, {8, 1}), "");
  // Other shapes or strides: the ranges decide.
  Expect(Beside(at, {3, 4}, {8, 1}, at + 4, {2, 4}, {8, 1}), overlap);
  Expect(Beside(at, {3, 4}, {8, 1}, at + 20, {2, 4}, {8, 1}), "");
  Expect(Beside(at, {3, 4}, {8, 1}, at + 4, {4}, {1}), overlap);
  Expect(Beside(at, {3, 2}, {1, 1}, at + 4, {3, 2}, {1, 1}), "");
  Expect(Beside(at, {3, 2}, {0, 2}, at + 1, {3, 2}, {0, 2}), overlap);  // meets itself: ranges
  // Strides that lead out of all memory meet everything.
  Expect(Beside(at, {3}, {INT64_MAX / 2}, at + 1, {3}, {1}), overlap);
  Expect(Beside(at, {2}, {INT64_MIN}, at + 1, {3}, {1}), overlap);
  Raw half(at, {3}), whole(at, {3});
  half.tensor.byte_offset = 2;  // not on an element of the other
  half.Step({2}), whole.Step({2});
  Expect(Beside(half, whole), overlap);
}

// Adds `weight` to the count of every address where the array has an element.
void Count(const Raw& raw, int weight, std::map<float*, int>* counts) {
  float* const data = static_cast<float*>(raw.tensor.data);
  for (int64_t i = 0; i < raw.shape[0]; ++i) {
    for (int64_t j = 0; j < raw.shape[1]; ++j) {
      for (int64_t k = 0; k < raw.shape[2]; ++k) {
        (*counts)[data + i * raw.strides[0] + j * raw.strides[1] + k * raw.strides[2]] += weight;
      }
    }
  }
}

// Random arrays, against elements counted one by one: an overlap is never missed, and between
// arrays of one layout never invented.
void Counted() {
  static float data[400] = {};
  std::mt19937 random(1);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  int exact = 0;
  for (int round = 0; round < 20000; ++round) {
    const bool alike = round % 4 != 0;
    Raw a(data + 200, {1, 1, 1}), b(data + 200 + pick(-20, 20), {1, 1, 1});
    a.tensor.strides = a.strides, b.tensor.strides = b.strides;
    for (int d = 0; d < 3; ++d) {
      a.shape[d] = pick(1, 4), a.strides[d] = pick(-9, 9);
      b.shape[d] = alike ? a.shape[d] : pick(1, 4);
      b.strides[d] = alike ? a.strides[d] : pick(-9, 9);
    }
    std::map<float*, int> counts;
    Count(a, 1, &counts), Count(b, 1000, &counts);
    bool twice = false, meet = false;
    for (const auto& [at, count] : counts) {
      twice = twice || count % 1000 > 1;
      meet = meet || (count > 1000 && count % 1000 > 0);
    }
    const bool apart = Beside(a, b).empty();
    const std::string own = Thrown([&] {
      const Call call("op", &a.any, 1, 1);
      call.Distinct(call.Array(0, "x"));
    });
    const bool distinct = own.empty();
    Expect(std::to_string(distinct && twice), "0");
    Expect(std::to_string(apart && meet), "0");
    if (!alike || !distinct) continue;
    Expect(std::to_string(apart), std::to_string(!meet));
    exact += !meet;
  }
  Expect(std::to_string(exact > 500), "1");
}

}  // namespace

int main() {
  Overwritten();
  Neighbours();
  Counted();
  return Finish();
}
