// Generated exports, called as a C program calls them: the arrays that kernels get, optional and
// saved ones among them, and the log. The ops are those of gen/testdata/writes.txtar; the kernels
// are here. Prints "ok N checks".
#include <cstring>
#include <thread>

#include "blend.gen.h"
#include "center.gen.h"
#include "center_backward.gen.h"
#include "ffi_call.h"
#include "pick.gen.h"
#include "swap.gen.h"

namespace {

// The name of the kernel that ran last in this thread, and what it got.
thread_local std::string launched;
thread_local const void* pointers[4];

void Launched(const char* kernel, std::initializer_list<const void*> given) {
  launched = kernel;
  std::copy(given.begin(), given.end(), pointers);
}

}  // namespace

extern "C" {

int __tvm_ffi_blend(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_center(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_pick(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_swap(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

}  // extern "C"

namespace sample_ops {

using opcast::Launch;
using opcast::Status;

Status Blend(const BlendArgs& args, const Launch&) {
  Launched("blend", {args.shift, args.low, args.x, args.bias});
  static_cast<float*>(args.x)[args.x_layout.Batch(1)] = 7;
  return Status::Ok();
}
Status Center(const CenterArgs& args, const Launch&) {
  Launched("center", {args.y, args.mean, args.spread});
  return Status::Ok();
}
Status CenterBackward(const CenterBackwardArgs&, const Launch&) { return Status::Ok(); }
Status PickPairs(const PickArgs& args, const Launch&) {
  Launched("pick_pairs", {args.z, args.y});
  return Status::Ok();
}
Status PickAny(const PickArgs& args, const Launch&) {
  Launched("pick_any", {args.z, args.y, args.bias});
  return args.tag == "fail" ? Status::Error("no luck") : Status::Ok();
}
Status Swap(const SwapArgs& args, const Launch&) {
  Launched("swap", {args.x, args.y});
  return Status::Ok();
}

}  // namespace sample_ops

namespace {

// The error of a call, or the kernel that ran: "" if none did.
std::string Run(Exported f, const std::vector<TVMFFIAny>& args) {
  launched.clear();
  const std::string error = Ask(f, args);
  return error.empty() ? launched : error;
}

alignas(8) float data[256];

void Saved() {
  Raw x(data, {2, 3}), y(data + 8, {2, 3}), mean(data + 16, {2}), spread(data + 24, {2});
  const auto run = [&](const TVMFFIAny& m, const TVMFFIAny& s) {
    return Run(__tvm_ffi_center, {y.any, m, s, x.any});
  };
  Expect(run(mean.any, spread.any), "center");
  Expect(std::to_string(pointers[1] == data + 16 && pointers[2] == data + 24), "1");
  Expect(run(kNone, kNone), "center");
  Expect(std::to_string(pointers[1] == nullptr && pointers[2] == nullptr), "1");
  Expect(run(mean.any, kNone), "ValueError: center: spread: expected an array (as mean), got None");
  Expect(run(kNone, spread.any),
         "ValueError: center: spread: expected None (as mean), got an array");
  Expect(Run(__tvm_ffi_center, {kNone, kNone, kNone, x.any}),
         "TypeError: center: missing required argument 'y'");
  Expect(run(x.any, spread.any), "ValueError: center: mean: expected shape [2], got shape [2, 3]");
  Raw same(data + 17, {2});
  Expect(run(mean.any, same.any),
         "ValueError: center: spread: expected memory apart from mean, got overlapping memory");
  // Rows without elements still have a mean.
  Raw none(data, {2, 0});
  Expect(Run(__tvm_ffi_center, {none.any, mean.any, spread.any, none.any}), "center");
  Expect(Run(__tvm_ffi_center, {none.any, kNone, kNone, none.any}), "");
}

void PresentIf() {
  Raw x(data, {3}), y(data + 8, {3}), bias(data + 16, {2, 5}), z(data + 32, {2, 4});
  const auto run = [&](const TVMFFIAny& out, const TVMFFIAny& in) {
    return Run(__tvm_ffi_pick, {out, y.any, x.any, in, Text("")});
  };
  Expect(run(z.any, bias.any), "pick_any");
  Expect(std::to_string(pointers[0] == data + 32 && pointers[2] == data + 16), "1");
  Expect(run(kNone, kNone), "pick_any");
  Expect(std::to_string(pointers[0] == nullptr && pointers[2] == nullptr), "1");
  Expect(run(kNone, bias.any), "ValueError: pick: z: expected an array (as bias), got None");
  Expect(run(z.any, kNone), "ValueError: pick: z: expected None (as bias), got an array");
  Raw wide(data + 32, {2, 5});
  Expect(run(wide.any, bias.any), "ValueError: pick: z: expected shape [2, 4], got shape [2, 5]");
  Raw flat(data + 32, {2, 4}, {kDLFloat, 64, 1});
  Expect(run(flat.any, bias.any), "TypeError: pick: z: expected dtype float32 (as y), got float64");
  Raw point(data + 32, {1, 0}), column(data + 16, {1, 0});
  Expect(run(point.any, column.any),
         "ValueError: pick: bias: expected dimension 1 to be of the form L + 1, got shape [1, 0]");
  Raw none(data, {0}), hole(data + 8, {0});
  Expect(Run(__tvm_ffi_pick, {z.any, hole.any, none.any, bias.any, Text("")}), "pick_pairs");
  Expect(Run(__tvm_ffi_pick, {kNone, hole.any, none.any, kNone, Text("")}), "");
  Expect(Run(__tvm_ffi_pick, {z.any, y.any, x.any, bias.any, Text("fail")}),
         "RuntimeError: pick: no luck");
}

void Mutated() {
  Raw x(data, {2, 4}), y(data + 4, {2, 4}), scale(data + 64, {4}), low(data + 72, {4});
  x.Step({8, 1}), y.Step({8, 1});
  const auto run = [&](const Raw& a, const Raw& b, const TVMFFIAny& shift = kNone,
                       const TVMFFIAny& bias = kNone) {
    return Run(__tvm_ffi_blend, {shift, low.any, a.any, b.any, scale.any, bias, Int(1), Text("b"),
                                 Number(0.5), Int(1, kTVMFFIBool)});
  };
  Expect(run(x, y), "blend");
  Expect(std::to_string(pointers[2] == data && data[8] == 7), "1");
  Raw near(data + 3, {2, 4}), dense(data + 4, {2, 4}), shared(data, {2, 4}), turned(data, {4, 2});
  near.Step({8, 1}), shared.Step({0, 1}), turned.Step({1, 4});
  Expect(run(x, near),
         "ValueError: blend: x: expected memory apart from y, got overlapping memory");
  Expect(run(x, dense),
         "ValueError: blend: x: expected memory apart from y, got overlapping memory");
  Expect(run(x, x), "ValueError: blend: x: expected memory apart from y, got overlapping memory");
  Expect(run(shared, y),
         "ValueError: blend: x: expected memory without overlap, got strides [0, 1]");
  Expect(run(turned, y),
         "ValueError: blend: x: expected a contiguous last dimension, got strides [1, 4]");
  Expect(run(x, y, low.any, low.any),
         "ValueError: blend: shift: expected memory apart from bias, got overlapping memory");
  Raw rows(data + 4, {1, 4});
  Expect(run(x, rows),
         "ValueError: blend: y: expected leading dimensions [2] (as x), got shape [1, 4]");
}

void WithoutOutputs() {
  Raw x(data, {2, 2}), y(data + 8, {2, 2}), steps(data, {2, 2}), far(data + 8, {0, 2});
  const auto run = [](const Raw& a, const Raw& b) { return Run(__tvm_ffi_swap, {a.any, b.any}); };
  Expect(run(x, y), "swap");
  Expect(std::to_string(pointers[0] == data && pointers[1] == data + 8), "1");
  Expect(run(x, x), "ValueError: swap: x: expected memory apart from y, got overlapping memory");
  Expect(run(far, far), "");
  steps.Step({1, 2});
  Expect(run(steps, y), "swap");
  Expect(run(y, steps), "ValueError: swap: y: expected contiguous memory, got strides [1, 2]");
  steps.Step({1, 1});
  Expect(run(steps, y), "ValueError: swap: x: expected memory without overlap, got strides [1, 1]");
}

std::string Printed(const char* value, const std::function<void()>& f) {
  return ::Printed("TEST_LOG", value, f);
}

void Logged() {
  Raw x(data, {2, 4}), y(data + 8, {2, 4}), scale(data + 64, {4}), low(data + 72, {4});
  int64_t numbers[2] = {3, -4};
  Raw steps(numbers, {2}, {kDLInt, 64, 1});
  const auto blend = [&] {
    Run(__tvm_ffi_blend, {kNone, low.any, x.any, y.any, scale.any, kNone, steps.any, Text("b"),
                          Number(1e-6), Int(1, kTVMFFIBool)});
  };
  const std::string line =
      "test: blend(shift None, low float32[4], x float32[2, 4], y float32[2, 4], scale float32[4], "
      "bias None, steps=[3, -4], mode='b', rate=1e-06, keep=True) by blend on cpu\n";
  Expect(Printed("calls", blend), line);
  Expect(Printed("", blend), "");
  const auto pick = [&] {
    Raw in(data, {3}), out(data + 8, {3}), none(data, {0});
    Run(__tvm_ffi_pick, {kNone, out.any, in.any, kNone, Text("a 'b'\n\\\x7f")});
    Run(__tvm_ffi_pick, {kNone, none.any, none.any, kNone, Text("nothing to launch")});
    Run(__tvm_ffi_pick, {kNone, none.any, in.any, kNone, Text("refused")});
  };
  Expect(Printed("calls", pick),
         "test: pick(z None, y float32[3], x float32[3], bias None, tag='a \\'b\\'\\x0a\\\\\\x7f') "
         "by pick_any on cpu\n");
  Expect(Printed("calls", [&] { Run(__tvm_ffi_swap, {x.any, y.any}); }),
         "test: swap(x float32[2, 4], y float32[2, 4]) by swap on cpu\n");
  // Any other value would look like a log of nothing.
  Expect(Printed("call",
                 [&] {
                   const std::string got = Run(__tvm_ffi_swap, {x.any, y.any});
                   std::fputs(got.c_str(), stderr);
                 }),
         "ValueError: swap: TEST_LOG: expected 'calls', got 'call'");
  // The environment is read once.
  Expect(Printed("",
                 [&] {
                   blend();
                   setenv("TEST_LOG", "calls", 1);
                   blend();
                 }),
         "");
}

void LoggedByThreads() {
  const std::string text = Printed("calls", [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([i] {
        Raw x(data + 32 * i, {2, 2}), y(data + 32 * i + 8, {2, 2});
        TVMFFIAny args[2] = {x.any, y.any}, result = {};
        for (int round = 0; round < 500; ++round) __tvm_ffi_swap(nullptr, args, 2, &result);
      });
    }
    for (std::thread& t : threads) t.join();
  });
  const std::string line = "test: swap(x float32[2, 2], y float32[2, 2]) by swap on cpu\n";
  std::string want;
  for (int i = 0; i < 2000; ++i) want += line;
  Expect(std::to_string(text == want), "1");
}

}  // namespace

int main() {
  Logged();  // first, for launches in this process would read the environment
  LoggedByThreads();
  Saved();
  PresentIf();
  Mutated();
  WithoutOutputs();
  return Finish();
}
