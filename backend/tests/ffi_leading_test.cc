// Leading dims that are broadcast: which go together, and where the rows of an input lie. Prints
// "ok N checks".
#include "opcast/ffi_leading.h"

#include <stdexcept>
#include <vector>

#include "ffi_check.h"

namespace {

using opcast::Broadcast;
using opcast::Leading;

// The leading dims of up to three inputs that have one more dim each, or why they do not go
// together.
std::string Together(std::initializer_list<Raw*> raws) {
  std::vector<TVMFFIAny> any;
  for (Raw* raw : raws) any.push_back(raw->any);
  any.resize(3);
  std::string text;
  const std::string fault = Thrown([&] {
    const Call call("op", any.data(), 3, 3);
    const Tensor x = call.Array(0, "x"), y = call.Array(1, "y"), z = call.Array(2, "z");
    Leading lead;
    lead.Join(call, x, 1, {});
    if (y) lead.Join(call, y, 1, {{&x, 1}});
    if (z) lead.Join(call, z, 1, {{&x, 1}, {&y, 1}});
    text = opcast::List(lead.shape(), lead.rank()) + " " + std::to_string(lead.count());
  });
  return fault.empty() ? text : fault;
}

std::string Together(std::initializer_list<int64_t> x, std::initializer_list<int64_t> y,
                     std::initializer_list<int64_t> z) {
  Raw a(nullptr, x), b(nullptr, y), c(nullptr, z);
  return Together({&a, &b, &c});
}

void Shapes() {
  Expect(Together({4, 1, 3}, {2, 3}, {3}), "[4, 2] 8");
  Expect(Together({3}, {3}, {3}), "[] 1");
  Expect(Together({3}, {1, 3}, {5, 1, 3}), "[5, 1] 5");
  Expect(Together({0, 3}, {1, 3}, {3}), "[0] 0");
  Expect(Together({1, 3}, {0, 3}, {2, 1, 3}), "[2, 0] 0");
  const std::string expected = ": expected leading dimensions that broadcast with ";
  Expect(Together({4, 1, 3}, {3, 3}, {3, 3}), "[4, 3] 12");
  Expect(Together({4, 2, 3}, {3, 3}, {3}),
         "ValueError: op: y" + expected + "[4, 2] (of x), got shape [3, 3]");
  Expect(Together({4, 1, 3}, {2, 3}, {3, 3}),
         "ValueError: op: z" + expected + "[2] (of y), got shape [3, 3]");
  Expect(Together({0, 3}, {2, 3}, {3}),
         "ValueError: op: y" + expected + "[0] (of x), got shape [2, 3]");
  Raw x(nullptr, {2, 3}), z(nullptr, {4, 1, 3});
  TVMFFIAny any[3] = {x.any, kNone, z.any};
  const Call call("op", any, 3, 3);
  const Tensor first = call.Array(0, "x"), absent = call.Array(1, "y"), last = call.Array(2, "z");
  Leading lead;
  lead.Join(call, first, 1, {});
  lead.Join(call, last, 1, {{&first, 1}, {&absent, 1}});
  Expect(opcast::List(lead.shape(), lead.rank()), "[4, 2]");
}

void Counts() {
  const int64_t big = int64_t{1} << 40;
  Raw x(nullptr, {big, 1, 0}), y(nullptr, {big, 0});
  try {
    Expect(Together({&x, &y}), "an overflow");
  } catch (const std::overflow_error& e) {
    Expect(e.what(), "a size does not fit in 64 bits");
  }
}

// The rows of x, which are broadcast with y: what is merged, and the offsets of all indices.
std::string Rows(Raw& x, std::initializer_list<int64_t> y, int trailing) {
  Raw other(nullptr, y);
  TVMFFIAny any[2] = {x.any, other.any};
  std::string text;
  const std::string fault = Thrown([&] {
    const Call call("op", any, 2, 2);
    const Tensor a = call.Array(0, "x"), b = call.Array(1, "y");
    Leading lead;
    lead.Join(call, a, trailing, {});
    lead.Join(call, b, trailing, {{&a, trailing}});
    const Broadcast rows = lead.Rows(call, a, trailing);
    text = std::to_string(rows.rank) + (rows.dense ? " dense" : "");
    for (int64_t i = 0; i < lead.count(); ++i) text += " " + std::to_string(rows.Offset(i));
  });
  return fault.empty() ? text : fault;
}

std::string Rows(std::initializer_list<int64_t> x, std::initializer_list<int64_t> y, int trailing) {
  Raw raw(nullptr, x);
  return Rows(raw, y, trailing);
}

void Offsets() {
  Expect(Rows({2, 3, 5}, {3, 5}, 1), "1 dense 0 5 10 15 20 25");
  Expect(Rows({5}, {2, 2, 5}, 1), "1 0 0 0 0");
  Expect(Rows({5}, {5}, 1), "0 dense 0");
  Expect(Rows({1, 5}, {1, 1, 5}, 1), "0 dense 0");
  Expect(Rows({3, 5}, {2, 1, 5}, 1), "2 0 5 10 0 5 10");
  Expect(Rows({2, 1, 5}, {3, 5}, 1), "2 0 0 0 5 5 5");
  Expect(Rows({2, 1, 2}, {2, 2, 2}, 0), "3 0 1 0 1 2 3 2 3");
  Expect(Rows({2, 2}, {2, 2}, 0), "1 dense 0 1 2 3");
  Expect(Rows({0, 5}, {1, 5}, 1).substr(0, 2), "1 ");
  Raw strided(nullptr, {2, 3, 5});
  strided.Step({40, 7, 1});
  Expect(Rows(strided, {5}, 1), "2 0 7 14 40 47 54");
  Raw even(nullptr, {2, 3, 5});
  even.Step({30, 10, 2});
  Expect(Rows(even, {5}, 1), "1 0 10 20 30 40 50");
  Raw odd(nullptr, {1, 3, 5});
  odd.Step({INT64_MAX, 5, 1});
  Expect(Rows(odd, {2, 1, 5}, 1), "2 0 5 10 0 5 10");
}

void Limits() {
  Raw x(nullptr, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 5});
  Raw y(nullptr, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 5});
  x.Step({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  y.tensor.strides = x.strides;
  TVMFFIAny any[2] = {x.any, y.any};
  Expect(
      Thrown([&] {
        const Call call("op", any, 2, 2);
        const Tensor a = call.Array(0, "x"), b = call.Array(1, "y");
        Leading lead;
        lead.Join(call, a, 1, {});
        lead.Join(call, b, 1, {{&a, 1}});
        lead.Rows(call, a, 1);
      }),
      "ValueError: op: x: expected at most 16 leading dimensions after neighbours are merged, got "
      "shape [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 5]");
}

}  // namespace

int main() {
  Shapes();
  Counts();
  Offsets();
  Limits();
  return Finish();
}
