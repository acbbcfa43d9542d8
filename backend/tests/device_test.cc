// Devices that there cannot be: every number of a type and of a device, at every function of the
// library that takes one. Prints "ok N checks".
#include "opcast/archs.h"
#include "registry_ops.h"

extern "C" {
int __tvm_ffi__opcast_explain(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_explain_shapes(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_op_call(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_register(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_scratch(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

// Which code runs on which architecture; the compiler finds out.
constexpr bool Runs(const char* built, int arch) { return opcast::Archs(built).RunOn(arch); }
static_assert(Runs("80", 80) && Runs("80", 86) && !Runs("86", 80) && !Runs("80", 90));
static_assert(Runs("80,90", 90) && !Runs("", 80));
static_assert(Runs("80+PTX", 120) && !Runs("90+PTX", 80));
static_assert(Runs("90a", 90) && !Runs("100a", 103) && Runs("75,100f", 103));
static_assert(Runs("gfx90a,gfx942:xnack-", 0x942) && Runs("gfx90a:sramecc+", 0x90a));
static_assert(!Runs("gfx90a", 0x90c) && !Runs("gfx90a", 0x942) && Runs("gfx1100", 0x1100));

constexpr int64_t kLast = 2147483647;

struct Device {
  int64_t type, number;
};

// What is said of a device that is wrong: "" for one that may be there.
std::string Wrong(Device d, const std::string& type_name, const std::string& number_name) {
  constexpr bool kTypes[] = {false, true, true, true, true, false, false, true, true, true,
                             true,  true, true, true, true, true,  true,  true, true};
  if (d.type < 0 || d.type > 18 || !kTypes[d.type])
    return "ValueError: " + type_name + ": expected a device type of DLPack, got " +
           std::to_string(d.type);
  if (d.type == 1 || (d.number >= 0 && d.number < 4096)) return "";
  return "ValueError: " + number_name + ": expected a device number from 0 to 4095, got " +
         std::to_string(d.number);
}

// A right call on a device.
struct Placed : Tally {
  explicit Placed(Device d) {
    for (Raw* r : {&y, &x, &starts, &weight, &part, &values})
      r->tensor.device = {static_cast<DLDeviceType>(d.type), static_cast<int32_t>(d.number)};
  }
};

std::string ByOpCall(const Tally& t) {
  return Ask(__tvm_ffi__opcast_op_call,
             {Text("tally"), Int(3), Int(1), Int(2), t.x.any, t.starts.any, t.weight.any, t.y.any,
              t.part.any, t.values.any});
}

std::string ByShapes(Device d) {
  int64_t shapes[] = {2, 2, 2, 6, 3, 2, 2, 4};
  Raw y(shapes, {2}, kInt64), x(shapes + 2, {2}, kInt64), starts(shapes + 4, {1}, kInt64),
      weight(shapes + 5, {1}, kInt64), part(shapes + 6, {2}, kInt64), values(shapes, {0}, kInt64);
  return Ask(
      __tvm_ffi__opcast_explain_shapes,
      {Text("tally"),   Int(d.type), Int(d.number), y.any,      Text("float32"),     x.any,
       Text("float32"), starts.any,  Text("int32"), weight.any, Text("float32"),     kNone,
       kNone,           Int(1),      Int(-1),       Text("t"),  Int(1, kTVMFFIBool), part.any,
       Text("float32"), values.any,  Text("int64")});
}

// A call on a device that may be there is answered, or refused because no kernel is for it.
void ExpectAnswer(const std::string& got, const std::string& wrong) {
  if (!wrong.empty()) return Expect(got, wrong);
  const bool error = got.find("Error: ") != std::string::npos;
  Expect(error && got.find("NotImplementedError: tally: no kernel ") != 0 ? got : "", "");
}

void Calls() {
  for (int64_t type = -3; type <= 20; ++type) {
    for (const int64_t number : {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4095, 4096, int{kLast}}) {
      const Device d = {type, number};
      Placed call(d);
      const std::string wrong = Wrong(d, "tally: x", "tally: x");
      ExpectAnswer(call.Run(), wrong);
      ExpectAnswer(ByOpCall(call), wrong);
      ExpectAnswer(call.About(__tvm_ffi__opcast_explain), wrong);
      ExpectAnswer(call.About(__tvm_ffi__opcast_scratch), wrong);
      const std::string own = "_opcast_explain_shapes: device_";
      ExpectAnswer(ByShapes(d), Wrong(d, own + "type", own + "id"));
    }
  }
}

// Only one of the arrays is elsewhere; the number of the host means nothing.
void Mixed() {
  Tally call;
  call.weight.tensor.device = {kDLCUDA, -1};
  Expect(call.Run(), "ValueError: tally: weight: expected a device number from 0 to 4095, got -1");
  call.weight.tensor.device = {kDLVPI, 3};
  Expect(call.Run(), "ValueError: tally: weight: expected device cpu (as x), got vpi:3");
  call.weight.tensor.device = {kDLCPU, 5};
  call.y.tensor.device = {kDLCPU, -1};
  Expect(call.Run(), "picky");
}

// Numbers that do not fit into those of DLPack are not cut off.
void Large() {
  const int64_t cpu = (int64_t{1} << 32) + 1;
  Expect(ByShapes({cpu, 0}),
         "ValueError: _opcast_explain_shapes: device_type: expected a device type of DLPack, got "
         "4294967297");
  Expect(ByShapes({kDLCUDA, int64_t{1} << 32}),
         "ValueError: _opcast_explain_shapes: device_id: expected a device number from 0 to 4095, "
         "got 4294967296");
  const auto succeed = [](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) { return 0; };
  TVMFFIAny f = {};
  TVMFFIObjectHandle handle = nullptr;
  if (TVMFFIFunctionCreate(nullptr, succeed, nullptr, &handle) != 0) std::abort();
  f.type_index = kTVMFFIFunction;
  f.v_obj = static_cast<TVMFFIObject*>(handle);
  for (const int64_t type : {int64_t{-3}, int64_t{0}, int64_t{6}, int64_t{19}, cpu}) {
    Expect(Ask(__tvm_ffi__opcast_register,
               {Text("tally"), Text("mine"), Int(type), f, kNone, Int(0, kTVMFFIBool)}),
           "ValueError: _opcast_register: device_type: expected a device type of DLPack, got " +
               std::to_string(type));
  }
}

}  // namespace

int main() {
  Calls();
  Mixed();
  Large();
  return Finish();
}
