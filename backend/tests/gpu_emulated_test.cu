// Tests of gpu.h and of launches on an emulated device: contexts, streams, devices and captures.
// Prints "ok N checks"; a failed check prints its line and the exit code is 1.
#include "emulated.h"

using namespace emulated;

namespace {

opcast::Status AddWith(const opcast::StartOptions& options, unsigned blocks, size_t shared,
                       int device) {
  float* const memory = Allocate();
  return opcast::Start(options, AddKernel, blocks, kCount, shared, On(device, nullptr), memory,
                       memory, 0.0F);
}

void TestProperties() {
  const int archs[] = {90, 80};
  for (int device = 0; device < 2; ++device) {
    const opcast::gpu::Properties found = opcast::gpu::PropertiesOf(device);
    CHECK(found.error.empty() && found.arch == archs[device], std::to_string(found.arch));
    CHECK(found.sm_count == 8 - device, std::to_string(found.sm_count));
  }
  CHECK(opcast::gpu::PropertiesOf(2).error == "invalid device ordinal", "there is a third device");
  CHECK(!HasContext(0) && !HasContext(1), "asking what a device is has made a context");
}

void TestGuard() {
  opcast::gpu::PropertiesOf(0);
  {
    const opcast::gpu::DeviceGuard guard(1);
    CHECK(guard.status().ok() && Current() == Primary(1), "not on device 1");
  }
  CHECK(Current() == nullptr, "nothing was current, something is");
  CHECK(!HasContext(0), "a context was made on device 0");
  CUcontext own = nullptr;
  DO(cuCtxCreate_v2(&own, 0, 0));
  {
    const opcast::gpu::DeviceGuard other(1);
    CHECK(Current() == Primary(1), "not on device 1");
    const opcast::gpu::DeviceGuard back(0);
    CHECK(Current() == Primary(0), "not on device 0");
  }
  CHECK(Current() == own, "the caller's own context is not current again");
  {
    const opcast::gpu::DeviceGuard same(0);
    CHECK(Current() == own, "the caller's own context was left, which is on this device");
  }
  const opcast::gpu::DeviceGuard none(5);
  EXPECT_ERROR(none.status(), "invalid device ordinal");
  CHECK(Current() == own, "a guard that failed has changed something");
}

void TestStreams() {
  opcast::gpu::PropertiesOf(0);
  Use(0);
  float *const x = Allocate(), *const y = Allocate();
  Write(x, 1);
  Write(y, 0);
  const CUstream one = Stream(), two = Stream();
  CHECK(Add(On(0, one), y, x, 1).ok(), "launch");
  CHECK(Add(On(0, two), x, y, 10).ok(), "launch");
  CHECK(Holds(y, 0), "a kernel ran elsewhere than on its stream");
  DO(cuStreamSynchronize(two));  // nothing orders it behind the other one
  CHECK(Holds(x, 10) && Holds(y, 0), "what runs first is not what was waited for");
  DO(cuStreamSynchronize(one));
  CHECK(Holds(y, 11), "the second kernel");
  CHECK(opcast::gpu::Zero(x, kBytes, one).ok(), "zero");
  CHECK(Holds(x, 10), "memory was zeroed elsewhere than on its stream");
  CUevent event = nullptr;
  DO(cuEventCreate(&event, 0));
  DO(cuEventRecord(event, one));
  DO(cuStreamWaitEvent(two, event, 0));
  Floats copy(kCount, 7);
  CHECK(opcast::gpu::Read(copy.data(), x, kBytes, two).ok(), "read");
  CHECK(copy == Floats(kCount, 0), "an event does not order streams");
}

void TestRecord() {
  opcast::gpu::PropertiesOf(0);
  Use(0);
  float* const x = Allocate();
  const CUstream stream = Stream();
  cuEmulatorBeginRecord();
  CHECK(Add(On(0, stream), x, x, 1).ok(), "launch");
  DO(cuStreamSynchronize(stream));
  CHECK(cuMemFree_v2(1) == CUDA_ERROR_INVALID_VALUE, "freed what is no memory");
  const std::string want =
      "cuCtxGetCurrent\ncuEmulatorLaunch\ncuStreamSynchronize\n  kernel on device 0\n"
      "cuMemFree_v2\n! cuMemFree_v2\n";
  const std::string got = cuEmulatorReadRecord();
  CHECK(got == want, got);
}

// What a GPU would refuse or stumble over.
void TestMisuse() {
  float* const memory[] = {(Use(0), Allocate()), (Use(1), Allocate())};
  const CUstream stream = Stream();  // of device 1
  Use(0);
  EXPECT_ERROR(Add(On(0, stream), memory[0], memory[0], 1),
               "kernel launch: invalid resource handle");
  CHECK(cudaGetLastError() == cudaSuccess, "a refused launch leaves an error");
  CHECK(Add(On(0, nullptr), memory[0], memory[0], 1).ok(), "nor does it stop the next one");
  Use(1);
  EXPECT_ERROR(Add(On(1, nullptr), memory[1], memory[0], 1),
               "kernel launch: an illegal memory access was encountered");
  CHECK(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS, "the error does not stay");
}

void TestFreed() {
  Use(0);
  float *const x = Allocate(), *const y = Allocate();
  const CUstream stream = Stream();
  DO(cuMemFree_v2(At(x)));
  CHECK(Add(On(0, stream), y, x, 1).ok(), "a launch does not wait for the kernel");
  CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS, "freed memory was read");
}

void TestHostMemory() {
  Use(0);
  float host[kCount] = {};
  CHECK(!Add(On(0, nullptr), Allocate(), host, 1).ok(), "memory of the host was read");
}

void TestManaged() {
  Use(0);
  float* const memory = Allocate(true);
  memory[0] = 1;  // the host may, too
  for (const int device : {0, 1}) {
    const opcast::gpu::DeviceGuard guard(device);
    CHECK(Add(On(device, nullptr), memory, memory, 1).ok(), "managed memory was refused");
  }
  CHECK(memory[0] == 3, std::to_string(memory[0]));
}

bool Captures(CUstream stream) {
  bool yes = false;
  CHECK(opcast::gpu::Captures(stream, &yes).ok(), "asking about a capture fails");
  return yes;
}

void TestCapture() {
  opcast::gpu::PropertiesOf(0);
  Use(0);
  float *const x = Allocate(), *const y = Allocate();
  Write(x, 1);
  Write(y, 5);
  const CUstream stream = Stream();
  CHECK(!Captures(stream) && !Captures(nullptr), "nothing is captured yet");
  DO(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(Captures(stream) && !Captures(nullptr), "the stream is captured");
  CHECK(Add(On(0, stream), y, x, 1).ok() && opcast::gpu::Zero(x, kBytes, stream).ok(), "launch");
  CUgraph graph = nullptr;
  DO(cuStreamEndCapture(stream, &graph));
  DO(cuCtxSynchronize());
  CHECK(Holds(y, 5), "a captured kernel ran");
  CUgraphExec ready = nullptr;
  DO(cuGraphInstantiateWithFlags(&ready, graph, 0));
  for (const float value : {2.0F, 1.0F}) {
    DO(cuGraphLaunch(ready, stream));
    DO(cuStreamSynchronize(stream));
    CHECK(Holds(y, value), "replay");
  }
}

void TestWaitInCapture() {
  opcast::gpu::PropertiesOf(0);
  Use(0);
  float* const x = Allocate();
  const CUstream stream = Stream(CU_STREAM_DEFAULT);
  DO(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CHECK(Captures(nullptr), "the default stream waits for the one that is captured");
  Floats copy(kCount);
  EXPECT_ERROR(opcast::gpu::Read(copy.data(), x, kBytes, stream),
               "what an array holds cannot be read while a graph is captured");
  CUgraph graph = nullptr;
  DO(cuStreamEndCapture(stream, &graph));  // a wait would have broken the capture
  DO(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_ERROR(opcast::gpu::Zero(x, kBytes, nullptr),
               "operation would make the legacy stream depend on a capturing blocking stream");
}

void TestOptions() {
  opcast::StartOptions pairs, together, overlaps;
  pairs.cluster = 2;
  together.cooperative = overlaps.overlaps = true;
  Use(0);
  CHECK(AddWith(pairs, 4, 0, 0).ok() && AddWith(overlaps, 1, 0, 0).ok(), "sm_90 has these");
  CHECK(AddWith(together, 128, 0, 0).ok(), "as many blocks as run at once");
  EXPECT_ERROR(AddWith(together, 129, 0, 0),
               "kernel launch: too many blocks in cooperative launch");
  EXPECT_ERROR(AddWith(pairs, 3, 0, 0), "kernel launch: invalid argument");
  CHECK(AddWith({}, 1, 227 << 10, 0).ok(), "shared memory that was asked for");
  EXPECT_ERROR(AddWith({}, 1, (227 << 10) + 1, 0), "kernel launch: invalid argument");
  Use(1);
  EXPECT_ERROR(AddWith(pairs, 4, 0, 1), "kernel launch: invalid argument");
  EXPECT_ERROR(AddWith(overlaps, 1, 0, 1), "kernel launch: invalid argument");
}

}  // namespace

int main() {
  void (*const tests[])() = {
      TestProperties, TestGuard,   TestStreams, TestRecord,        TestMisuse,  TestFreed,
      TestHostMemory, TestManaged, TestCapture, TestWaitInCapture, TestOptions,
  };
  for (const auto test : tests) InChild("a test", [=] { return test(), int64_t{0}; });
  return Finish();
}
