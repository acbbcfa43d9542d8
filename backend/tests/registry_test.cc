// Dispatch among kernels, scratch, debug checks and the exports that describe a library. Prints "ok
// N checks".
#include <limits>

#include "allocations.h"
#include "opcast/threads.h"
#include "registry_ops.h"

extern "C" {
int __tvm_ffi__opcast_devices(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_explain(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_force(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_kernels(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_explain_shapes(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_scratch(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

constexpr int kPart = 10, kValues = 11;

// How often a call of `kernel` allocates.
int Allocations(Tally* call, const std::string& kernel) {
  const int before = allocations;
  const std::string ran = call->Run();
  const int during = allocations - before;
  Expect(ran, kernel);
  return during;
}

// A call allocates as much where kernels before the one that runs decline it, as where that one is
// forced.
void Declining(Tally* call, const char* kernel) {
  refusal = "a reason that is too long for the space that a string has in itself";
  const int declined = Allocations(call, kernel);
  refusal = nullptr;
  const std::string forced = std::string("tally_") + kernel;
  Expect(Ask(__tvm_ffi__opcast_force, {Text("tally"), Text(forced.c_str())}), "");
  Expect(std::to_string(declined), std::to_string(Allocations(call, kernel)));
  Expect(Ask(__tvm_ffi__opcast_force, {Text("tally"), Text("")}), "");
}

void Choosing() {
  Expect(Tally(4).Run(), "few");
  Expect(Tally().Run(), "picky");
  Expect(Tally(6, kHalf).Run(), "any");
  refusal = "no luck";
  Expect(Tally().Run(), "any");
  refusal = nullptr;
  Expect(Ask(__tvm_ffi__opcast_kernels, {Text("tally")}),
         R"(["tally_few","tally_picky","tally_any","tally_wide","tally_cuda","tally_matrix"])");
  Expect(Ask(__tvm_ffi__opcast_devices, {}), OPCAST_CUDA != 0 ? R"(["cpu","cuda"])" : R"(["cpu"])");
  Expect(Ask(__tvm_ffi__opcast_kernels, {Text("none")}),
         "KeyError: _opcast_kernels: no op 'none' in this library");
}

void Forcing() {
  const auto force = [](const char* kernel) {
    return Ask(__tvm_ffi__opcast_force, {Text("tally"), Text(kernel)});
  };
  Expect(force("tally_any"), "");
  Expect(Tally(4).Run(), "any");
  Expect(force("tally_few"), "");
  Expect(Tally().Run(),
         "NotImplementedError: tally: no kernel takes this call on cpu: tally_few: needs N <= 4");
  Expect(force("tally_cuda"), "");
  Expect(Tally().Run(),
         "NotImplementedError: tally: no kernel takes this call on cpu: tally_cuda: is for cuda");
  Expect(force("fast"),
         "ValueError: tally: no kernel 'fast', available: "
         "tally_few,tally_picky,tally_any,tally_wide,tally_cuda,tally_matrix");
  Expect(force(""), "");
  Expect(Tally(4).Run(), "few");
}

void GivenScratch() {
  Tally call;
  std::memset(data + 256, 1, 64);
  Expect(call.Run(), "picky");
  Expect(std::to_string(seen.part == data + 256 && seen.values == &number && seen.zeros), "1");
  std::memset(data + 256, 1, 64);
  Tally few(4);
  Expect(few.Run(kPart, kNone), "few");
  Expect(few.Run(), "few");
  Expect(std::to_string(seen.part == nullptr && seen.values == nullptr && data[256] != 0), "1");
  Expect(call.Run(kPart, kNone),
         "ValueError: tally: part: expected a scratch array float32[2, 4], got None");
  Expect(call.Run(kValues, kNone),
         "ValueError: tally: values: expected a scratch array int64[], got None");
  Raw wrong(data + 256, {2, 4}, kHalf), flat(data + 256, {8}), over(data + 32, {2, 4});
  Expect(call.Run(kPart, wrong.any),
         "TypeError: tally: part: expected dtype float32 (as x), got float16");
  Expect(call.Run(kPart, flat.any),
         "ValueError: tally: part: expected shape [2, 4], got shape [8]");
  Expect(call.Run(kPart, over.any),
         "ValueError: tally: part: expected memory apart from x, got overlapping memory");
  Expect(call.Run(kPart, Int(1)), "TypeError: tally: part: expected DLPack tensor, got int");
  Expect(Tally(1).Run(), "ValueError: tally: scratch part would have a negative dimension: P = -1");
}

void Workspace() {
  wanted = 2 * 4 * 4 + 8;
  opcast::SetNumThreads(3);
  Expect(Tally().Run(), "picky");
  Expect(std::to_string(queried.device_type) + " " + std::to_string(queried.sm_count) + " " +
             std::to_string(queried.Threads()),
         "1 0 3");
  ++wanted;
  Expect(Tally().Run(),
         "RuntimeError: tally: kernel tally_picky wants 41 bytes of scratch, the definition "
         "declares 40");
  wanted = 0;
}

// A caller that leaves the scratch to the library.
void OwnScratch() {
  Tally call;
  call.args[kPart] = call.args[kValues] = kNone;
  const opcast::Op& op = *opcast::FindOp("tally");
  Expect(std::to_string(opcast::FindOp(5) == &op && opcast::FindOp(6) == nullptr), "1");
  opcast::Request request{opcast::Request::Task::kLaunch};
  Expect(Thrown([&] { op.body(call.args.data(), 12, &request); }), "");
  Expect(seen.kernel, "picky");
  const auto address = reinterpret_cast<uintptr_t>(seen.part);
  Expect(std::to_string(address != 0 && address % 64 == 0 && seen.values != nullptr && seen.zeros),
         "1");
}

void Describing() {
  Tally call;
  Expect(call.About(__tvm_ffi__opcast_scratch),
         R"([{"name":"part","dtype":"float32","code":2,"bits":32,"shape":[2,4]},)"
         R"({"name":"values","dtype":"int64","code":0,"bits":64,"shape":[]}])");
  Expect(Tally(1).About(__tvm_ffi__opcast_scratch),
         "ValueError: tally: scratch part would have a negative dimension: P = -1");
  const auto explained = [](const std::string& picky) {
    return "[" + Says("tally_few", "cpu", "needs N <= 4") + "," +
           Says("tally_picky", "cpu", picky) + "," + Says("tally_any", "cpu", "") + "," +
           NotForTheCPU() + "]";
  };
  refusal = "no \\ \"luck\"\n";
  Expect(call.About(__tvm_ffi__opcast_explain), explained(R"(no \\ \"luck\"\u000a)"));
  refusal = nullptr;
  call.args[kPart] = kNone;  // of no concern without a launch
  Expect(call.About(__tvm_ffi__opcast_explain), explained(""));
  Expect(Tally(6, kInt32).About(__tvm_ffi__opcast_explain),
         "TypeError: tally: x: expected dtype float32 or float16, got int32");
  Expect(Ask(__tvm_ffi__opcast_explain, {}),
         "TypeError: _opcast_explain: expected 1 arguments, got 0");
}

void Defaults() {
  Tally call(16);
  Expect(call.Run(), "picky");
  Expect(std::to_string(seen.scale == 0.25 && seen.bias == 15), "1");
  Expect(call.Run(4, Number(2)), "picky");
  Expect(std::to_string(seen.scale == 2 && seen.bias == 15), "1");
  // Who gets the arguments as they came asks for what stands for None.
  const TVMFFIAny args[2] = {kNone, Int(3)};
  const Call asked("op", args, 2, 2);
  asked.Default(0, 0.5);
  Expect(std::to_string(asked.Value(0).v_float64 == 0.5 && asked.Value(1).v_int64 == 3), "1");
  asked.Default(1, int64_t{7});
  Expect(std::to_string(asked.Value(1).type_index == kTVMFFIInt && asked.Value(1).v_int64 == 7),
         "1");
}

// A call of which only shapes and dtypes are known, too large to be made.
void Shapes() {
  constexpr int kDevice = 1, kX = 5, kWeight = 9;
  int64_t many = int64_t{1} << 40, more = many + 1, rows[2] = {4, 6}, sums[2] = {4, many};
  Raw y(sums, {2}, kInt64), x(rows, {2}, kInt64), s(&more, {1}, kInt64), w(&many, {1}, kInt64);
  const TVMFFIAny f = Text("float32"), i = Text("int32"), yes = Int(1, kTVMFFIBool);
  std::vector<TVMFFIAny> args = {Text("tally"), Int(kDLCPU), Int(0), y.any, f,     x.any, f,
                                 s.any,         i,           w.any,  f,     kNone, kNone, Int(1),
                                 Int(-1),       f,           yes,    kNone, kNone, kNone, kNone};
  const auto with = [&](int index, const TVMFFIAny& value) {
    std::vector<TVMFFIAny> changed = args;
    changed[index] = value;
    return Ask(__tvm_ffi__opcast_explain_shapes, changed);
  };
  const std::string right = "[" + Says("tally_few", "cpu", "needs N <= 4") + "," +
                            Says("tally_picky", "cpu", "") + "," + Says("tally_any", "cpu", "") +
                            "," + NotForTheCPU() + "]";
  Expect(with(kDevice, Int(kDLCPU)), right);
  Expect(with(kDevice, Int(kDLCUDA)).substr(1, NotOnTheCPU().size()), NotOnTheCPU());
  Expect(with(kWeight, kNone), right);  // optional
  Expect(with(kX, kNone), "TypeError: tally: missing required argument 'x'");
  Expect(with(kX, Int(1)), "TypeError: _opcast_explain_shapes: x: expected a shape, got int");
  Expect(with(kX + 1, Text("half")),
         "ValueError: _opcast_explain_shapes: x: expected the name of a dtype, got 'half'");
  Expect(with(kX + 1, Text("float16")),
         "TypeError: tally: y: expected dtype float16 (as x), got float32");
  Expect(with(0, Text("none")), "KeyError: _opcast_explain_shapes: no op 'none' in this library");
  args.pop_back();
  Expect(with(kX, kNone), "TypeError: _opcast_explain_shapes: expected 21 arguments, got 20");
}

void Contents(int device, const char* kernel) {
  const auto print = [&] { std::fputs(Tally(6, {kDLFloat, 32, 1}, device).Run().c_str(), stderr); };
  const auto told = [&](int32_t a, int32_t b, int32_t c) {
    offsets[0] = a, offsets[1] = b, offsets[2] = c;
    return Printed("TEST_DEBUG", "1", print);
  };
  Expect(told(0, 6, 6), kernel);
  Expect(told(-1, 2, 6), "ValueError: tally: starts: expected values of at least 0, got -1 at [0]");
  Expect(told(0, 2, 7),
         "ValueError: tally: starts: expected values of at most 6 (N = 6 of x), got 7 at [2]");
  Expect(told(0, 5, 3),
         "ValueError: tally: starts: expected ascending values, got 3 after 5 at [2]");
  Expect(Printed("TEST_DEBUG", "0", print),
         device == kDLCPU
             ? "ValueError: tally: starts: expected ascending values, got 3 after 5 at [2]"
             : kernel);
  Expect(Printed("TEST_DEBUG", "yes", print),
         "ValueError: tally: TEST_DEBUG: expected '0' or '1', got 'yes'");
  Expect(told(0, 2, 6), kernel);
  data[129] = 0.75;
  Expect(told(0, 2, 6),
         "ValueError: tally: weight: expected values of at most 0.5, got 0.75 at [1]");
  data[129] = std::numeric_limits<float>::quiet_NaN();
  Expect(told(0, 2, 6),
         "ValueError: tally: weight: expected values of at least -1.5, got nan at [1]");
  data[129] = 0;
  std::fill_n(offsets, 3, 0);  // for calls of any size
}

#if OPCAST_CUDA

void OnTheGpu() {
  Tally call(6, {kDLFloat, 32, 1}, kDLCUDA);
  std::memset(data + 256, 1, 64);
  guards = cleared = 0;
  Expect(call.Run(), "wide");
  Expect(std::to_string(seen.arch) + std::to_string(guards) + std::to_string(cleared) +
             std::to_string(guarded),
         "90110");
  Expect(std::to_string(queried.sm_count) + " " + std::to_string(queried.Threads()), "132 0");
  Expect(std::to_string(seen.zeros && seen.part == data + 256), "1");
  Declining(&call, "cuda");
  busy = "CUDA-capable device(s) is/are busy or unavailable";
  Expect(call.Run(), std::string("RuntimeError: tally: cuda:0 cannot be used: ") + busy);
  busy = nullptr;
  device.arch = 86;
  Expect(call.Run(), "cuda");
  Expect(call.Run(kPart, kNone),
         "ValueError: tally: part: expected a scratch array float32[2, 4], got None");
  const auto explained = [](const std::string& wide, const std::string& cuda) {
    return "[" + NotOnTheCPU() + "," + Says("tally_wide", "cuda", wide) + "," +
           Says("tally_cuda", "cuda", cuda) + "," + Says("tally_matrix", "rocm", "is for rocm") +
           "]";
  };
  Expect(call.About(__tvm_ffi__opcast_explain),
         explained("needs an architecture >=90; this device is sm_86", ""));
  device.arch = 120;
  const std::string lacks = "built for sm_80, sm_90; this device is sm_120: add it to [cuda] arch";
  Expect(call.Run(),
         "NotImplementedError: tally: no kernel takes this call on cuda:0: tally_wide: " + lacks +
             "; tally_cuda: " + lacks);
  device = {0, 0, "no CUDA-capable device is detected"};
  const std::string broken = "cuda:0 cannot be used: no CUDA-capable device is detected";
  Expect(call.Run(), "RuntimeError: tally: " + broken);
  Expect(call.About(__tvm_ffi__opcast_explain), explained(broken, broken));
  device = {90, 132, ""};
}

#else

void OnTheGpu() {
  Tally call(6, {kDLFloat, 32, 1}, kDLCUDA);
  Expect(call.Run(), "NotImplementedError: tally: no kernel for device cuda:0, available: cpu");
  const std::string absent = "not built into this library: run opcast build --device cpu,cuda";
  Expect(call.About(__tvm_ffi__opcast_explain),
         "[" + NotOnTheCPU() + "," + Says("tally_wide", "cuda", absent) + "," +
             Says("tally_cuda", "cuda", absent) + "," +
             Says("tally_matrix", "rocm", "is for rocm") + "]");
}

#endif

}  // namespace

int main() {
  // First, for calls in this process would read the environment.
  Contents(kDLCPU, "picky");
  if (OPCAST_CUDA != 0) Contents(kDLCUDA, "wide");
  Choosing();
  Forcing();
  Tally call;
  Declining(&call, "any");
  GivenScratch();
  Workspace();
  OwnScratch();
  Describing();
  Defaults();
  Shapes();
  OnTheGpu();
  return Finish();
}
