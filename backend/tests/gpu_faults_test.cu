// Each call of the driver fails once: with an error of ours, nothing left behind, and a right call
// afterwards. Prints "ok N checks, N faults"; a failed check prints its line and the exit code
// is 1.
#include "emulated.h"

using namespace emulated;

namespace {

// A call as the library makes it, on device 1 with nothing current.
opcast::Status Call(float* y, const float* x, float* host) {
  const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(1);
  if (!found.error.empty()) return opcast::Status::Error(found.error);
  const opcast::gpu::DeviceGuard guard(1);
  if (!guard.status().ok()) return guard.status();
  bool captures = false;
  opcast::Status status = opcast::gpu::Captures(nullptr, &captures);
  if (status.ok()) status = opcast::gpu::Zero(y, kBytes, nullptr);
  if (status.ok())
    status = opcast::Start(AddKernel, 1, kCount, 64 << 10, On(1, nullptr), y, x, 1.0F);
  if (status.ok()) status = opcast::gpu::Read(host, y, kBytes, nullptr);
  return status;
}

// Has the n-th driver call of the first call in a process fail, and returns how many there were.
// All but the last, with which the guard restores what was current, make the call fail.
int64_t FailAt(int64_t n, int64_t count) {
  Use(1);
  float *const x = Allocate(), *const y = Allocate();
  Write(x, 1);
  DO(cuCtxSetCurrent(nullptr));
  const int64_t alive = cuEmulatorAlive(), before = cuEmulatorCalls();
  cuEmulatorFail(n, CUDA_ERROR_UNKNOWN);
  Floats host(kCount);
  const opcast::Status status = Call(y, x, host.data());
  const int64_t made = cuEmulatorCalls() - before;
  const std::string fault = "after fault " + std::to_string(n) + ": ";
  if (n >= count - 1) {
    CHECK(status.ok() && host == Floats(kCount, 2), fault + status.text());
  } else {
    const bool launching = status.text().find("kernel launch") == 0;
    EXPECT_ERROR(status, launching ? "kernel launch: unknown error" : "unknown error");
    CHECK(Current() == nullptr, fault + "a context stays current");
  }
  CHECK(cuEmulatorAlive() == alive, fault + "something was left behind");
  CHECK(!HasContext(0), fault + "there is a context on device 0");
  DO(cuCtxSetCurrent(nullptr));
  const opcast::Status again = Call(y, x, host.data());
  CHECK(again.ok() && host == Floats(kCount, 2), fault + again.text());
  return made;
}

}  // namespace

int main() {
  const int64_t calls = InChild("no fault", [] { return FailAt(1000, 0); });
  for (int64_t n = 0; n < calls; ++n) InChild("a fault", [=] { return FailAt(n, calls); });
  return Finish(", " + std::to_string(calls) + " faults");
}
