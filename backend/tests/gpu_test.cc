// Tests of gpu.h on a machine without a GPU, where each call must come back with the driver's text.
// Prints "ok N checks"; a failed check prints its line and the exit code is 1.
#include "opcast/gpu.h"

#include <cstdio>

namespace {

int checks = 0, failures = 0;

void Check(bool ok, int line, const std::string& detail) {
  ++checks;
  if (ok) return;
  ++failures;
  std::printf("gpu_test.cc:%d: failed: %s\n", line, detail.c_str());
}
#define CHECK(ok, detail) Check(ok, __LINE__, detail)

// What the driver, or its absence, may be called.
bool TellsWhy(const std::string& text) {
  return text.find("driver") != std::string::npos || text.find("device") != std::string::npos;
}

void TestNoDevice(int device) {
  const opcast::gpu::Properties first = opcast::gpu::PropertiesOf(device);
  CHECK(first.arch == 0 && first.sm_count == 0, std::to_string(first.arch));
  CHECK(TellsWhy(first.error), first.error);
  const opcast::gpu::Properties second = opcast::gpu::PropertiesOf(device);
  CHECK(second.arch == 0 && second.error == first.error, second.error);
}

void TestMemory() {
  const opcast::gpu::DeviceGuard guard(1);  // neither throws nor ends the program
  CHECK(!guard.status().ok() && TellsWhy(guard.status().text()), guard.status().text());
  char bytes[4] = {1, 2, 3, 4}, copy[4] = {};
  const opcast::Status zero = opcast::gpu::Zero(bytes, sizeof bytes, nullptr);
  CHECK(!zero.ok() && TellsWhy(zero.text()), zero.text());
  const opcast::Status read = opcast::gpu::Read(copy, bytes, sizeof copy, nullptr);
  CHECK(!read.ok() && TellsWhy(read.text()), read.text());
  CHECK(bytes[0] == 1 && copy[0] == 0, "memory was written");
}

}  // namespace

int main() {
  const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(0);
  if (found.arch != 0) {
    CHECK(found.error.empty() && found.arch >= 50 && found.sm_count > 0, found.error);
    const opcast::gpu::Properties again = opcast::gpu::PropertiesOf(0);
    CHECK(again.arch == found.arch && again.sm_count == found.sm_count, "another device");
    TestNoDevice(-1);
    TestNoDevice(1000);
  } else {
    for (const int device : {0, -1, 1000}) TestNoDevice(device);
    TestMemory();
  }
  if (failures == 0) std::printf("ok %d checks\n", checks);
  return failures == 0 ? 0 : 1;
}
