// Each call that gpu_hip.hip makes fails once: with an error of ours, nothing left behind, and a
// right call afterwards. The arguments are the functions of HIP that must have failed. Prints "ok N
// checks, N faults"; a failed check prints its line and the exit code is 1.
#include <hip/hip_runtime_api.h>

#include "emulated.h"

using namespace emulated;

namespace {

constexpr int kOwn = 1, kOther = 0;  // the device of the arrays, and another one
constexpr int kROCm = 10;            // in DLPack

struct Arrays {
  float *y, *x;
  hipStream_t stream;
};

Arrays Made() {
  void *x = nullptr, *y = nullptr;
  Arrays made{};
  DO(hipSetDevice(kOwn));
  DO(hipMalloc(&x, kBytes));
  DO(hipMalloc(&y, kBytes));
  DO(hipStreamCreateWithFlags(&made.stream, CU_STREAM_NON_BLOCKING));
  DO(hipMemcpyHtoD(x, Floats(kCount, 1).data(), kBytes));
  made.x = static_cast<float*>(x);
  made.y = static_cast<float*>(y);
  return made;
}

int Current() {
  int device = -1;
  DO(hipGetDevice(&device));
  return device;
}

// A call that uses all of gpu.h and both kinds of launches. The host then has numbers of 3.
opcast::Status Call(const Arrays& a, Floats* host) {
  const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(kOwn);
  if (!found.error.empty()) return opcast::Status::Error(found.error);
  CHECK(found.arch == 0x942 && found.sm_count == 7, std::to_string(found.arch));
  const opcast::gpu::DeviceGuard guard(kOwn);
  if (!guard.status().ok()) return guard.status();
  bool captures = true;
  opcast::Status status = opcast::gpu::Captures(a.stream, &captures);
  if (status.ok()) CHECK(!captures, "nothing is captured");
  if (status.ok()) status = opcast::gpu::Zero(a.y, kBytes, a.stream);
  const opcast::Launch launch{kROCm, kOwn, a.stream, found.arch, found.sm_count};
  if (status.ok()) status = opcast::Start(AddKernel, 1, kCount, 64 << 10, launch, a.y, a.x, 1.0F);
  opcast::StartOptions together;
  together.cooperative = true;
  if (status.ok())
    status = opcast::Start(together, AddKernel, 1, kCount, 0, launch, a.y, a.y, 1.0F);
  if (status.ok()) status = opcast::gpu::Read(host->data(), a.y, kBytes, a.stream);
  return status;
}

void CallsRight(const Arrays& a, int current, const std::string& where) {
  Floats host(kCount);
  const opcast::Status status = Call(a, &host);
  CHECK(status.ok() && host == Floats(kCount, 3), where + status.text());
  CHECK(Current() == current, where + "another device is current");
  DO(hipGetLastError());
}

// Which calls of the driver fail: those of the first call in a process or of a later one, while one
// of the two devices is current.
struct Calls {
  int current;
  bool later;
  std::string Text() const {
    return std::string(later ? "a later" : "the first") + " call on device " +
           std::to_string(current) + ", ";
  }
};

// The functions of a list, as bits, that a record has as refused. HIP's header means another name
// by some, such as hipGetDevicePropertiesR0600.
int64_t Refused(const std::string& record, const std::vector<std::string>& functions) {
  int64_t bits = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto in_record = [&](const std::string& ending) {
      return record.find("! " + functions[i] + ending + "\n") != std::string::npos;
    };
    bits |= int64_t{in_record("") || in_record("R0600")} << i;
  }
  return bits;
}

// How many calls of the driver a call makes.
int64_t Count(const Calls& calls) {
  const Arrays a = Made();
  DO(hipSetDevice(calls.current));
  if (calls.later) CallsRight(a, calls.current, calls.Text());
  Floats host(kCount);
  const int64_t before = cuEmulatorCalls();
  CHECK(Call(a, &host).ok(), calls.Text());
  return cuEmulatorCalls() - before;
}

// Has the n-th of these fail, and returns the functions of HIP that fail by that. All make the call
// fail but those of the last hipSetDevice, with which the guard restores what was current.
int64_t FailAt(int64_t n, int64_t count, const Calls& calls,
               const std::vector<std::string>& functions) {
  constexpr int64_t kOfSetDevice = 2;
  const std::string where = calls.Text() + "fault " + std::to_string(n) + ": ";
  const Arrays a = Made();
  DO(hipSetDevice(calls.current));
  if (calls.later) CallsRight(a, calls.current, where);
  const int64_t alive = cuEmulatorAlive();
  Floats host(kCount);
  cuEmulatorBeginRecord();
  cuEmulatorFail(n, CUDA_ERROR_UNKNOWN);
  const opcast::Status status = Call(a, &host);
  const int64_t refused = Refused(cuEmulatorReadRecord(), functions);
  CHECK(hipGetLastError() == hipSuccess, where + "an error stays");
  if (n >= count - (calls.current == kOwn ? 0 : kOfSetDevice)) {
    CHECK(status.ok() && host == Floats(kCount, 3), where + status.text());
    DO(hipSetDevice(calls.current));
  } else {
    const bool launching = status.text().find("kernel launch") == 0;
    EXPECT_ERROR(status, launching ? "kernel launch: unknown error" : "unknown error");
    CHECK(Current() == calls.current, where + "another device is current");
  }
  CHECK(cuEmulatorAlive() == alive, where + "something was left behind");
  CallsRight(a, calls.current, where);
  return refused;
}

// To ask whether the default stream is captured is an error while it would wait for a stream that
// is. Ours is not that error, nor does it stay, and the capture remains whole.
void TestCapture() {
  const Arrays a = Made();
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  DO(hipStreamCreateWithFlags(&stream, CU_STREAM_DEFAULT));
  DO(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  Floats host(kCount);
  for (const hipStream_t captured : {stream, hipStream_t{nullptr}}) {
    bool yes = false;
    CHECK(opcast::gpu::Captures(captured, &yes).ok() && yes, "a capture is not noticed");
    EXPECT_ERROR(opcast::gpu::Read(host.data(), a.x, kBytes, captured),
                 "what an array holds cannot be read while a graph is captured");
    DO(hipGetLastError());
  }
  DO(hipStreamEndCapture(stream, &graph));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> functions(arguments + 1, arguments + count);
  int64_t faults = 0, refused = 0;
  for (const Calls& calls : {Calls{kOwn, false}, {kOwn, true}, {kOther, false}, {kOther, true}}) {
    const int64_t made = InChild("no fault", [=] { return Count(calls); });
    for (int64_t n = 0; n < made; ++n, ++faults)
      refused |= InChild("a fault", [&] { return FailAt(n, made, calls, functions); });
  }
  for (size_t i = 0; i < functions.size(); ++i)
    CHECK((refused >> i & 1) == 1, functions[i] + " has not failed");
  CHECK(!functions.empty() && faults > 0, "nothing has failed");
  InChild("a capture", [] { return TestCapture(), int64_t{0}; });
  return Finish(", " + std::to_string(faults) + " faults");
}
