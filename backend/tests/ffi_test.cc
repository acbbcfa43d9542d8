// The rules on hand-made tensors that no framework would produce: what a C caller can send. Prints
// "ok N checks".
#include <climits>
#include <limits>
#include <stdexcept>

#include "ffi_check.h"

namespace {

void Shapes() {
  alignas(8) float data[8] = {};
  Expect(Raw(data, {2, 4}).Read(), "");
  Raw many(data, {1});
  many.tensor.ndim = 20;
  for (int64_t& n : many.shape) n = 1;
  Expect(many.Read(),
         "ValueError: op: x: expected at most 16 dimensions, got shape [1, 1, 1, 1, 1, 1, 1, 1, 1, "
         "1, 1, 1, 1, "
         "1, 1, 1, 1, 1, 1, 1]");
  many.tensor.strides = many.strides;
  Expect(many.Read(), "");
  Expect(Raw(data, {-1, 8}).Read(),
         "ValueError: op: x: expected no negative size, got shape [-1, 8]");
  const int64_t half = int64_t{1} << 32;
  Expect(
      Raw(data, {half, half}).Read(),
      "ValueError: op: x: expected fewer elements than 2^63, got shape [4294967296, 4294967296]");
  Expect(Raw(nullptr, {half, 0, half}).Read(), "");
  Raw negative(data, {1});
  negative.tensor.ndim = -1;
  Expect(negative.Read(), "ValueError: op: x: expected at least 0 dimensions, got -1");
  Raw shapeless(data, {1});
  shapeless.tensor.shape = nullptr;
  Expect(shapeless.Read(), "ValueError: op: x: expected a shape, got a null pointer");
}

void Memory() {
  alignas(8) float data[8] = {};
  Expect(Raw(nullptr, {2}).Read(), "ValueError: op: x: expected data, got a null pointer");
  Expect(Raw(reinterpret_cast<char*>(data) + 1, {2}).Read(),
         "ValueError: op: x: expected memory aligned to 4 bytes, got an address between");
  Raw offset(data, {2});
  offset.tensor.byte_offset = 2;
  Expect(offset.Read(),
         "ValueError: op: x: expected memory aligned to 4 bytes, got an address between");
  Raw stepped(data, {2, 2});
  stepped.tensor.strides = stepped.strides;
  stepped.strides[0] = 4, stepped.strides[1] = 2;
  Expect(stepped.Read(), "ValueError: op: x: expected contiguous memory, got strides [4, 2]");
}

void Optional() {
  alignas(8) float data[8] = {};
  Raw given(data, {2});
  TVMFFIAny any[2] = {given.any, {}};
  const auto together = [&](int first, int second) {
    return Thrown([&] {
      const Call call("op", any, 2, 2);
      const Tensor y = call.Array(first, "y"), x = call.Array(second, "x");
      call.Present(y, bool(x), x.name());
    });
  };
  Expect(together(0, 0), "");
  Expect(together(1, 1), "");
  Expect(together(0, 1), "ValueError: op: y: expected None (as x), got an array");
  Expect(together(1, 0), "ValueError: op: y: expected an array (as x), got None");
  const Call call("op", any, 2, 2);
  const Tensor absent = call.Array(1, "x"), x = call.Array(0, "x");
  Expect(std::to_string(absent.empty() && absent.data() == nullptr), "1");
  Expect(Thrown([&] { call.Apart(absent, {&x, &absent}); }), "");
  Expect(Thrown([&] { call.Apart(x, {&absent}); }), "");
}

void IntLists() {
  int64_t numbers[4] = {1, 2, 3, 4}, out[2] = {};
  const DLDataType i64 = {kDLInt, 64, 1};
  Expect(Raw(numbers, {2}, i64).ReadInts(2, out), "");
  Expect(std::to_string(out[1]), "2");
  Raw stepped(numbers, {2}, i64);
  stepped.tensor.strides = stepped.strides;
  stepped.strides[0] = 2;
  Expect(stepped.ReadInts(2, out), "TypeError: op: pad: expected 2 integers, got array");
  Expect(Raw(numbers, {3}, i64).ReadInts(2, out),
         "ValueError: op: pad: expected 2 integers, got 3");
  Expect(Raw(numbers, {3}, i64).ReadInts(1, out), "ValueError: op: pad: expected 1 integer, got 3");
  Expect(Raw(numbers, {-1}, i64).ReadInts(2, out),
         "TypeError: op: pad: expected 2 integers, got array");
  Raw shapeless(numbers, {2}, i64);
  shapeless.tensor.shape = nullptr;
  Expect(shapeless.ReadInts(2, out), "TypeError: op: pad: expected 2 integers, got array");
  Raw offset(numbers, {2}, i64);
  offset.tensor.byte_offset = 16;
  Expect(offset.ReadInts(2, out), "");
  Expect(std::to_string(out[0]), "3");
}

void Arithmetic() {
  Expect(std::to_string(opcast::FloorDiv(-7, 2)), "-4");
  Expect(std::to_string(opcast::FloorDiv(7, -2)), "-4");
  Expect(std::to_string(opcast::Mod(-7, 4)), "1");
  Expect(std::to_string(opcast::CeilDiv(7, 2)), "4");
  Expect(std::to_string(opcast::CeilDiv(-7, 2)), "-3");
  Expect(std::to_string(opcast::CeilDiv(INT64_MIN, 2)), std::to_string(INT64_MIN / 2));
  Expect(std::to_string(opcast::FloorDiv(INT64_MIN + 1, -1)), std::to_string(INT64_MAX));
  Expect(std::to_string(opcast::Mod(INT64_MIN, -1)), "0");
  Expect(std::to_string(opcast::Pow(-2, 63)), std::to_string(INT64_MIN));
  Expect(std::to_string(opcast::Pow(1, INT64_MAX)), "1");
  Expect(std::to_string(opcast::Add(INT64_MAX - 1, 1)), std::to_string(INT64_MAX));
  TVMFFIAny none = {};
  const Call call("op", &none, 1, 1);
  Expect(Thrown([&] { call.AtLeast("eps", -std::numeric_limits<double>::quiet_NaN(), 0.0, "0"); }),
         "ValueError: op: eps: expected at least 0, got nan");
  Expect(Thrown([&] { Call("op", &none, 1, 3); }), "TypeError: op: expected 3 arguments, got 1");
}

// What has no value in 64 bits.
void Overflow() {
  const std::string large = "a size does not fit in 64 bits";
  const auto what = [](const std::function<int64_t()>& f) -> std::string {
    try {
      return std::to_string(f());
    } catch (const std::overflow_error& e) {
      return e.what();
    } catch (const std::domain_error& e) {
      return e.what();
    }
  };
  Expect(what([] { return opcast::Add(INT64_MAX, 1); }), large);
  Expect(what([] { return opcast::Sub(INT64_MIN, 1); }), large);
  Expect(what([] { return opcast::Mul(int64_t{1} << 32, int64_t{1} << 31); }), large);
  Expect(what([] { return opcast::Neg(INT64_MIN); }), large);
  Expect(what([] { return opcast::FloorDiv(INT64_MIN, -1); }), large);
  Expect(what([] { return opcast::CeilDiv(INT64_MIN, -1); }), large);
  Expect(what([] { return opcast::Pow(2, 63); }), large);
  Expect(what([] { return opcast::Pow(3, INT64_MAX); }), large);
  Expect(what([] { return opcast::Sum(std::array<int64_t, 3>{INT64_MAX, 1, -1}); }), large);
  Expect(what([] { return opcast::Pow(2, -1); }), "a size is not an integer");
  Expect(what([] { return opcast::Mod(1, 0); }), "division by zero in a size");
  Expect(what([] { return opcast::CeilDiv(1, 0); }), "division by zero in a size");
}

}  // namespace

int main() {
  Shapes();
  Memory();
  Optional();
  IntLists();
  Arithmetic();
  Overflow();
  return Finish();
}
