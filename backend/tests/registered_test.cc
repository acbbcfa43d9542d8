// Kernels that are registered while the process runs, as C registers them: what is refused, what
// explain prints, threads that register and force during calls, and forks. Prints "ok N checks".
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "registry_ops.h"

extern "C" {
int __tvm_ffi__opcast_explain(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_force(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_register(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_unregister(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi__opcast_unregister_all(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

bool exhausted = false;  // no memory for errors

// A function of tvm-ffi; it lives as long as the process.
TVMFFIAny Function(TVMFFISafeCallType f) {
  TVMFFIAny v = {};
  TVMFFIObjectHandle handle = nullptr;
  if (TVMFFIFunctionCreate(nullptr, f, nullptr, &handle) != 0) std::abort();
  v.type_index = kTVMFFIFunction;
  v.v_obj = static_cast<TVMFFIObject*>(handle);
  return v;
}

int Succeed(void*, const TVMFFIAny*, int32_t, TVMFFIAny*) {
  seen.kernel = "registered";
  return 0;
}

// Registers a kernel for the CPU: the error, or "" and its id.
std::string Register(const char* name, const TVMFFIAny& function, const TVMFFIAny& supported,
                     int64_t* id) {
  const TVMFFIAny args[] = {Text("tally"), Text(name), Int(kDLCPU),
                            function,      supported,  Int(0, kTVMFFIBool)};
  TVMFFIAny result = {};
  __tvm_ffi__opcast_register(nullptr, args, 6, &result);
  *id = result.v_int64;
  return TakeRaised();
}

void Unregister(int64_t id) {
  const TVMFFIAny arg = Int(id);
  TVMFFIAny result = {};
  __tvm_ffi__opcast_unregister(nullptr, &arg, 1, &result);
}

std::string Force(const char* kernel) {
  return Ask(__tvm_ffi__opcast_force, {Text("tally"), Text(kernel)});
}

void Refused() {
  int64_t id = 0;
  Expect(Register("mine", kNone, kNone, &id),
         "TypeError: _opcast_register: function: expected a function, got another type");
  const TVMFFIAny f = Function(Succeed);
  Expect(Register("mine", f, Int(1), &id),
         "TypeError: _opcast_register: supported: expected a function, got another type");
  Expect(Register("a\tb", f, kNone, &id),
         "ValueError: _opcast_register: name: expected an identifier, got 'a\\x09b'");
  Expect(Register("", f, kNone, &id),
         "ValueError: _opcast_register: name: expected an identifier, got ''");
  Expect(Register("2nd", f, kNone, &id),
         "ValueError: _opcast_register: name: expected an identifier, got '2nd'");
  Expect(
      Register("tally_any", f, kNone, &id),
      "ValueError: tally: name: expected a new name, got 'tally_any', which is a kernel already");
  Expect(Tally().Run(), "picky");
  Expect(Register("mine", f, kNone, &id), "");
  Expect(Tally().Run(), "registered");
  Unregister(id);
  Expect(Tally().Run(), "picky");
}

// A reason is one line, whatever the predicate says.
void Reasons() {
  const auto refuse = [](void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {
    const std::string text = "not\tyet,\nnot now";
    const TVMFFIByteArray bytes{text.data(), text.size()};
    return TVMFFIStringFromByteArray(&bytes, result);
  };
  int64_t id = 0;
  Expect(Register("mine", Function(Succeed), Function(refuse), &id), "");
  const std::string first = "[" + Says("mine", "cpu", "not yet, not now") + ",";
  Expect(Tally().About(__tvm_ffi__opcast_explain).substr(0, first.size()), first);
  Expect(Tally().Run(), "picky");
  Expect(Force("mine"), "");
  Expect(Tally().Run(),
         "NotImplementedError: tally: no kernel takes this call on cpu: mine: not yet, not now");
  Unregister(id);
  Expect(Tally().Run(), "picky");
}

// A function that fails without an error, as those of Python do that lose theirs, is named; an
// error that was raised before by something else is not taken for its own.
void Lost() {
  const TVMFFIAny lose = Function([](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) { return -1; });
  int64_t id = 0;
  Expect(Register("losing", lose, kNone, &id), "");
  Expect(Tally().Run(),
         "RuntimeError: tally: losing: the kernel failed, and its exception was lost");
  TVMFFIErrorSetRaisedFromCStr("ValueError", "of another call");
  Expect(Tally().Run(),
         "RuntimeError: tally: losing: the kernel failed, and its exception was lost");
  Unregister(id);
  Expect(Register("asking", Function(Succeed), lose, &id), "");
  Expect(Tally().Run(),
         "RuntimeError: tally: asking: the predicate failed, and its exception was lost");
  Unregister(id);
}

// Calls never see half of a change.
void InThreads() {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> failed{0};
  std::vector<std::thread> threads;
  const auto quiet = [](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) { return 0; };
  const TVMFFIAny f = Function(quiet);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      Tally call(6, {kDLFloat, 32, 1});
      while (!stop) failed += Ask(__tvm_ffi_tally, call.args) == "" ? 0 : 1;
    });
  }
  threads.emplace_back([&] {
    while (!stop) Force("mine");  // an error if it comes after the removal
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int64_t id = 0; std::chrono::steady_clock::now() < end;) {
    Register("mine", f, kNone, &id);
    Force("mine");
    Unregister(id);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  Expect(std::to_string(failed), "0");
  Expect(Force(""), "");
  Expect(Tally().Run(), "picky");
}

// A kernel may fork; the child goes on with the call, and ends without waiting for other threads.
void Forked() {
  static pid_t child;
  const auto fork_here = [](void*, const TVMFFIAny*, int32_t, TVMFFIAny*) {
    child = fork();
    return 0;
  };
  int64_t id = 0;
  Expect(Register("forking", Function(fork_here), kNone, &id), "");
  Expect(Ask(__tvm_ffi_tally, Tally().args), "");
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    TVMFFIAny limit = {}, result = {};
    limit.type_index = kTVMFFIFloat;
    limit.v_float64 = 5;
    __tvm_ffi__opcast_unregister_all(nullptr, &limit, 1, &result);
    _exit(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  Expect(std::to_string(status), "0");
  Unregister(id);
}

// When there is no memory for the error, tvm-ffi makes one.
void WithoutMemory() {
  Tally call;
  exhausted = true;
  const std::string got = call.Run(0, Int(1));
  exhausted = false;
  Expect(got, "MemoryError: tally: out of memory");
  Expect(call.Run(0, Int(1)), "TypeError: tally: y: expected DLPack tensor, got int");
}

}  // namespace

// Comes before tvm-ffi's own.
extern "C" int TVMFFIErrorCreate(const TVMFFIByteArray* kind, const TVMFFIByteArray* message,
                                 const TVMFFIByteArray* backtrace, TVMFFIObjectHandle* out) {
  static const auto real =
      reinterpret_cast<decltype(&TVMFFIErrorCreate)>(dlsym(RTLD_NEXT, "TVMFFIErrorCreate"));
  return exhausted ? -1 : real(kind, message, backtrace, out);
}

int main() {
  Refused();
  Reasons();
  Lost();
  InThreads();
  Forked();
  WithoutMemory();
  return Finish();
}
