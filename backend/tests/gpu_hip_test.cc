// Tests of gpu_hip.hip. The argument says what libamdhip64 the loader finds: "none", where each
// call must say so, or "fake", that of fake_hip.cc. Prints "ok N checks"; a failed check prints its
// line and the exit code is 1.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "opcast/gpu.h"
#include "opcast/start.h"

// As a compiled unit calls them when the library is loaded.
extern "C" {
void** __hipRegisterFatBinary(const void* code);
void __hipRegisterFunction(void** unit, const void* function, char* device_function,
                           const char* device_name, unsigned threads, void*, void*, void*, void*,
                           int*);
void __hipRegisterVar(void** unit, void* variable, char* name, char* device_name, int, size_t, int,
                      int);
void __hipRegisterManagedVar(void** unit, void** variable, void* begin, const char* name, size_t,
                             unsigned);
void __hipRegisterTexture(void** unit, void* variable, char* name, char* device_name, int, int,
                          int);
void __hipRegisterSurface(void** unit, void* variable, char* name, char* device_name, int, int);
}
namespace opcast::device {
Status StartKernel(const StartOptions& options, const void* kernel, dim3 grid, dim3 block,
                   void** arguments, size_t shared, void* stream);
}

namespace {

int checks = 0, failures = 0;

void Check(bool ok, int line, const std::string& detail) {
  ++checks;
  if (ok) return;
  ++failures;
  std::printf("gpu_hip_test.cc:%d: failed: %s\n", line, detail.c_str());
}
#define CHECK(ok, detail) Check(ok, __LINE__, detail)

char first_code[] = "first", second_code[] = "second", scale[] = "scale", shift[] = "shift",
     table[] = "table", picture[] = "picture";
const bool registered = [] {
  void** const first = __hipRegisterFatBinary(first_code);
  void** const second = __hipRegisterFatBinary(second_code);
  __hipRegisterFunction(second, shift, shift, shift, 0, nullptr, nullptr, nullptr, nullptr,
                        nullptr);
  __hipRegisterFunction(first, scale, scale, scale, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  __hipRegisterVar(first, table, table, table, 0, 4, 0, 0);
  __hipRegisterManagedVar(second, nullptr, nullptr, "shared", 4, 4);
  __hipRegisterTexture(second, nullptr, picture, picture, 0, 0, 0);
  __hipRegisterSurface(second, nullptr, picture, picture, 0, 0);
  return true;
}();

opcast::Status Launch(unsigned threads, const opcast::StartOptions& options = {}) {
  int value = 7;
  void* arguments[] = {&value};
  return opcast::device::StartKernel(options, scale, 5, threads, arguments, 64, nullptr);
}

void TestNone() {
  const auto says = [](const std::string& text) {
    return text.find("no HIP runtime for AMD's devices: ") == 0;
  };
  const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(0);
  CHECK(found.arch == 0 && found.sm_count == 0 && says(found.error), found.error);
  const opcast::gpu::DeviceGuard guard(1);
  CHECK(says(guard.status().text()), guard.status().text());
  char bytes[4] = {};
  CHECK(says(opcast::gpu::Zero(bytes, 4, nullptr).text()), "Zero");
  CHECK(says(opcast::gpu::Read(bytes, bytes, 4, nullptr).text()), "Read");
  CHECK(Launch(256).text().find("kernel launch: no HIP runtime") == 0, Launch(256).text());
}

// The runtime's calls since the last look; "" before there is a runtime.
std::string Calls() {
  void* const fake = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
  if (fake == nullptr) return "";
  return reinterpret_cast<const char* (*)()>(dlsym(fake, "fake_hip_calls"))();
}

void TestFake() {
  CHECK(dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD) == nullptr, "it was opened at load");
  const opcast::gpu::Properties first = opcast::gpu::PropertiesOf(0);
  CHECK(first.arch == 0x942 && first.sm_count == 304, first.error);
  // Units are handed over before anything else, each with what is its own.
  const std::string begin = Calls();
  CHECK(begin ==
            "unit first;kernel scale;variable table;unit second;kernel shift;"
            "managed shared;texture picture;surface picture;properties 0;",
        begin);
  CHECK(opcast::gpu::PropertiesOf(0).arch == 0x942 && Calls().empty(), "asked twice");
  CHECK(opcast::gpu::PropertiesOf(1).arch == 0x90a, "the second device");
  const opcast::gpu::Properties none = opcast::gpu::PropertiesOf(2);
  CHECK(none.arch == 0 && none.error == "no such device", none.error);
  Calls();
  {
    const opcast::gpu::DeviceGuard same(1), other(0);
    CHECK(same.status().ok() && other.status().ok() && Calls() == "set 0;", "guards");
  }
  CHECK(Calls() == "set 1;", "what was current is not again");
  char bytes[4] = {1, 2, 3, 4}, copy[4] = {};
  CHECK(opcast::gpu::Read(copy, bytes, 4, nullptr).ok() && copy[3] == 4, "Read");
  CHECK(Calls() == "memcpy;synchronize;", "Read does not wait");
  CHECK(opcast::gpu::Zero(bytes, 4, nullptr).ok() && bytes[0] == 0, "Zero");
  Calls();
  CHECK(Launch(256).ok() && Calls() == "launch 5 256 64 7;", "launch");
  opcast::StartOptions options;
  options.cooperative = options.overlaps = true;
  CHECK(Launch(256, options).ok() && Calls() == "cooperative;", "cooperative launch");
  options.cluster = 2;
  CHECK(!Launch(256, options).ok() && Calls().empty(), "a cluster");
  bool captures = true;
  CHECK(opcast::gpu::Captures(nullptr, &captures).ok() && !captures, "no capture");
  CHECK(opcast::gpu::Captures(bytes, &captures).ok() && captures, "a capture");
  CHECK(!opcast::gpu::Read(copy, bytes, 4, bytes).ok() && Calls().empty(), "Read in a capture");
  CHECK(Launch(2048).text() == "kernel launch: too many threads", Launch(2048).text());
  Calls();
  Launch(2048);
  CHECK(Calls() == "launch 5 2048 64 7;last error;", "the error stays for others");
}

}  // namespace

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "none") == 0)
    TestNone();
  else
    TestFake();
  if (failures == 0 && registered) std::printf("ok %d checks\n", checks);
  return failures == 0 ? 0 : 1;
}
