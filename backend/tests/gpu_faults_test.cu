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

// What is current when the call is made.
enum class Before { kNothing, kOther, kOwn };  // kOther: the context of device 0, kOwn: of device 1
constexpr const char* kNames[] = {"with nothing current, ", "with device 0 current, ",
                                  "with device 1 current, "};

CUcontext Make(Before before) {
  const CUcontext context =
      before == Before::kNothing ? nullptr : Primary(before == Before::kOwn ? 1 : 0);
  DO(cuCtxSetCurrent(context));
  return context;
}

// Has the n-th driver call of the first call in a process fail, and returns how many there were.
// All make the call fail but the last, if with that the guard restores what was current.
int64_t FailAt(int64_t n, int64_t count, Before before) {
  Use(1);
  float *const x = Allocate(), *const y = Allocate();
  Write(x, 1);
  const CUcontext current = Make(before);
  const int64_t alive = cuEmulatorAlive(), calls = cuEmulatorCalls();
  cuEmulatorFail(n, CUDA_ERROR_UNKNOWN);
  Floats host(kCount);
  const opcast::Status status = Call(y, x, host.data());
  const int64_t made = cuEmulatorCalls() - calls;
  const std::string fault =
      kNames[static_cast<int>(before)] + ("after fault " + std::to_string(n) + ": ");
  CHECK(cudaGetLastError() == cudaSuccess, fault + "an error stays");
  if (n >= count - (before == Before::kOwn ? 0 : 1)) {
    CHECK(status.ok() && host == Floats(kCount, 2), fault + status.text());
  } else {
    const bool launching = status.text().find("kernel launch") == 0;
    EXPECT_ERROR(status, launching ? "kernel launch: unknown error" : "unknown error");
    CHECK(Current() == current, fault + "another context is current");
  }
  CHECK(cuEmulatorAlive() == alive, fault + "something was left behind");
  CHECK(HasContext(0) == (before == Before::kOther), fault + "there is a context on device 0");
  DO(cuCtxSetCurrent(current));
  const opcast::Status again = Call(y, x, host.data());
  CHECK(again.ok() && host == Floats(kCount, 2), fault + again.text());
  CHECK(Current() == current, fault + "after the next call, another context is current");
  return made;
}

// The guard asks of which device a current context is; with nothing current there is no such call
// to fail.
void TestGuard(Before before) {
  Make(before);
  cuEmulatorBeginRecord();
  CHECK(opcast::gpu::DeviceGuard(1).status().ok(), "a guard");
  const bool asks =
      std::string(cuEmulatorReadRecord()).find("\ncuCtxGetDevice\n") != std::string::npos;
  CHECK(asks == (before != Before::kNothing), "what the guard asks");
}

}  // namespace

int main() {
  int64_t faults = 0;
  for (const Before before : {Before::kNothing, Before::kOther, Before::kOwn}) {
    const int64_t calls = InChild("no fault", [=] { return FailAt(1000, 0, before); });
    for (int64_t n = 0; n < calls; ++n, ++faults)
      InChild("a fault", [=] { return FailAt(n, calls, before); });
    InChild("a guard", [=] { return TestGuard(before), int64_t{0}; });
  }
  return Finish(", " + std::to_string(faults) + " faults");
}
