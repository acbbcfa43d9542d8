// Outputs that the library has made: their dtype, device and shape, and what goes wrong on the way.
// Prints "ok N checks".
#include "registry_ops.h"

extern "C" int __tvm_ffi__opcast_op(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
extern "C" int __tvm_ffi__opcast_make(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
extern "C" int __tvm_ffi__opcast_raise(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace {

// A caller that has memory for one array, or none.
struct Maker {
  float memory[64] = {};
  int64_t shape[4] = {};
  std::string asked;
  bool empty = false;

  static bool Allocate(void* context, DLTensor* wanted) {
    auto* maker = static_cast<Maker*>(context);
    maker->asked = opcast::List(wanted->shape, wanted->ndim) + " of " +
                   std::to_string(wanted->dtype.bits) + " bits on " +
                   opcast::DeviceName(wanted->device);
    if (maker->empty) return false;
    for (int d = 0; d < wanted->ndim; ++d) maker->shape[d] = wanted->shape[d];
    wanted->shape = maker->shape;
    wanted->data = maker->memory;
    return true;
  }
};

TVMFFIAny Opaque(void* address) {
  TVMFFIAny value = {};
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = address;
  return value;
}

void* Find(int64_t schema) {
  const TVMFFIAny args[] = {Text("tally"), Int(schema)};
  TVMFFIAny result = {};
  Expect(__tvm_ffi__opcast_op(nullptr, args, 2, &result) == 0 ? "" : TakeRaised(), "");
  return result.type_index == kTVMFFIOpaquePtr ? result.v_ptr : nullptr;
}

std::string Make(Maker* maker, Tally* tally, int64_t schema = opcast::FindOp("tally")->schema) {
  seen = {};
  std::vector<TVMFFIAny> args = {Opaque(Find(schema)),
                                 Opaque(reinterpret_cast<void*>(&Maker::Allocate)), Opaque(maker)};
  args.insert(args.end(), tally->args.begin(), tally->args.end());
  const std::string error = Ask(__tvm_ffi__opcast_make, args);
  return error.empty() ? seen.kernel : error;
}

void Made() {
  Maker maker;
  Tally tally;
  tally.y.tensor = {};
  tally.y.tensor.ndim = opcast::kUnmade;
  Expect(Make(&maker, &tally), "picky");
  Expect(maker.asked, "[2, 2] of 32 bits on cpu");
  Expect(tally.y.tensor.data == maker.memory ? "its memory" : "other memory", "its memory");
}

void Given() {
  Maker maker;
  Tally tally;
  Expect(Make(&maker, &tally), "picky");
  Expect(maker.asked, "");
}

void Faults() {
  Maker maker;
  Tally tally(1);  // too narrow
  tally.y.tensor.ndim = opcast::kUnmade;
  Expect(Make(&maker, &tally).substr(0, 18), "ValueError: tally:");
  Expect(maker.asked, "");
  Tally right;
  right.y.tensor.ndim = opcast::kUnmade;
  maker.empty = true;
  Expect(Make(&maker, &right), "MemoryError: tally: out of memory");
  Expect(Make(&maker, &right, 1),
         "TypeError: _opcast_make: op: expected a result of _opcast_op, got object");
  Expect(right.Run().substr(0, 20), "ValueError: tally: y");  // without an allocator
}

// Raises an error and asks for the one of a text: the error that this raises, "" for none.
std::string Again(const std::string& kind, const std::string& message, const char* asked) {
  const TVMFFIByteArray k{kind.data(), kind.size()}, m{message.data(), message.size()}, none{};
  TVMFFIObjectHandle error = nullptr;
  if (TVMFFIErrorCreate(&k, &m, &none, &error) != 0) return "no error";
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return Ask(__tvm_ffi__opcast_raise, {Text(asked)});
}

// The error that stays raised for a caller who got no more than its text.
void RaisedAgain() {
  const char* const text = "ValueError: tally: y: expected more";
  Expect(Again("ValueError", "tally: y: expected more", text), text);
  Expect(Again("TypeError", "tally: y: expected more", text), "");
  Expect(Ask(__tvm_ffi__opcast_raise, {Text(text)}), "");  // the other one is gone
}

}  // namespace

int main() {
  Made();
  Given();
  Faults();
  RaisedAgain();
  return Finish();
}
