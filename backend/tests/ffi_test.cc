// The rules on hand-made tensors that no framework would produce: what a C caller can send. Prints
// "ok N checks".
#include "opcast/ffi.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>

namespace {

using opcast::Call;
using opcast::Fault;
using opcast::Tensor;

int checks = 0, failures = 0;

// The text of the fault that f throws, "" for none.
std::string Thrown(const std::function<void()>& f) {
  try {
    f();
  } catch (const Fault& fault) {
    return std::string(fault.kind) + ": " + fault.text;
  }
  return "";
}

void Expect(const std::string& got, const std::string& want) {
  ++checks;
  if (got == want) return;
  ++failures;
  std::fprintf(stderr, "got  %s\nwant %s\n", got.c_str(), want.c_str());
}

struct Raw {
  int64_t shape[20] = {};
  int64_t strides[20] = {};
  DLTensor tensor = {};
  TVMFFIAny any = {};

  Raw(void* data, std::initializer_list<int64_t> sizes, DLDataType dtype = {kDLFloat, 32, 1}) {
    int d = 0;
    for (int64_t n : sizes) shape[d++] = n;
    tensor = {data, {kDLCPU, 0}, d, dtype, shape, nullptr, 0};
    any.type_index = kTVMFFIDLTensorPtr;
    any.v_ptr = &tensor;
  }
  std::string Read() {
    return Thrown([&] {
      const Call call("op", &any, 1, 1);
      const Tensor t = call.Array(0, "x");
      call.Dense(t);
      call.LastDense(t);
      call.Data(t);
    });
  }
  std::string ReadInts(int n, int64_t* out) {
    return Thrown([&] { Call("op", &any, 1, 1).Ints(0, "pad", n, out); });
  }
};

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
}

void Arithmetic() {
  Expect(std::to_string(opcast::FloorDiv(-7, 2)), "-4");
  Expect(std::to_string(opcast::FloorDiv(7, -2)), "-4");
  Expect(std::to_string(opcast::Mod(-7, 4)), "1");
  Expect(std::to_string(opcast::CeilDiv(7, 2)), "4");
  Expect(std::to_string(opcast::FloorDiv(INT64_MIN + 1, -1)), std::to_string(INT64_MAX));
  TVMFFIAny none = {};
  const Call call("op", &none, 1, 1);
  Expect(Thrown([&] { call.AtLeast("eps", -std::numeric_limits<double>::quiet_NaN(), 0.0, "0"); }),
         "ValueError: op: eps: expected at least 0, got nan");
  Expect(Thrown([&] { Call("op", &none, 1, 3); }), "TypeError: op: expected 3 arguments, got 1");
}

}  // namespace

int main() {
  Shapes();
  Memory();
  IntLists();
  Arithmetic();
  if (failures == 0) std::printf("ok %d checks\n", checks);
  return failures == 0 ? 0 : 1;
}
