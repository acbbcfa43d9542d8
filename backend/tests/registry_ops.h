// The op of gen/testdata/kernels.txtar for registry_test.cc and op_call_test.cc: kernels that write
// down what they get, and calls of it. With OPCAST_CUDA or OPCAST_ROCM, the GPU is a stand-in whose
// memory is that of the CPU.
#pragma once

#include <cstring>

#include "ffi_call.h"
#include "opcast/registry.h"
#include "tally.gen.h"

extern "C" int __tvm_ffi_tally(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace {

// What the kernel that ran last saw.
thread_local struct Seen {
  std::string kernel;
  const void* part;
  const void* values;
  double scale;
  int64_t bias;
  bool zeros;  // all of part was zero
  int arch;
  std::string attrs;  // the other attributes
} seen;

int64_t wanted = 0;             // what the query answers
opcast::Launch queried{};       // what it was asked about
const char* refusal = nullptr;  // what the predicate answers

opcast::Status See(const char* kernel, const probe_ops::TallyArgs& args,
                   const opcast::Launch& launch) {
  seen = {kernel, args.part, args.values, args.scale, args.bias, true, launch.arch, ""};
  for (const int64_t n : {args.pads[0], args.pads[1], args.skip[0], args.skip[1]})
    seen.attrs += std::to_string(n) + " ";
  seen.attrs += std::string(args.tag) + (args.exact ? " exact" : " rounded");
  const auto* part = static_cast<const float*>(args.part);
  for (int64_t i = 0; part != nullptr && i < args.batch * args.P; ++i)
    seen.zeros = seen.zeros && part[i] == 0;
  return opcast::Status::Ok();
}

}  // namespace

namespace probe_ops {

using opcast::Launch;
using opcast::Status;

Status TallyFew(const TallyArgs& args, const Launch& l) { return See("few", args, l); }
Status TallyPicky(const TallyArgs& args, const Launch& l) { return See("picky", args, l); }
const char* TallyPickySupported(const TallyArgs&, const Launch&) { return refusal; }
int64_t TallyPickyWorkspace(const TallyArgs&, const Launch& l) {
  queried = l;
  return wanted;
}
Status TallyAny(const TallyArgs& args, const Launch& l) { return See("any", args, l); }

}  // namespace probe_ops

#if OPCAST_GPU

namespace {

opcast::gpu::Properties device = {90, 132, ""};
int guarded = 0, guards = 0, cleared = 0, copied = 0;
const char* busy = nullptr;  // why the device cannot become the current one

}  // namespace

namespace opcast::gpu {

Properties PropertiesOf(int) { return device; }
DeviceGuard::DeviceGuard(int) {
  ++guarded, ++guards;
  if (busy != nullptr) status_ = Status::Error(busy);
}
DeviceGuard::~DeviceGuard() { --guarded; }
Status Captures(void*, bool* yes) {
  *yes = false;
  return Status::Ok();
}
Status Zero(void* at, size_t bytes, void*) {
  ++cleared;
  std::memset(at, 0, bytes);
  return guarded == 1 ? Status::Ok() : Status::Error("wrong device");
}
Status Read(void* host, const void* at, size_t bytes, void*) {
  ++copied;
  std::memcpy(host, at, bytes);
  return guarded == 1 ? Status::Ok() : Status::Error("wrong device");
}

}  // namespace opcast::gpu

namespace probe_ops {

Status TallyWide(const TallyArgs& args, const Launch& l) { return See("wide", args, l); }
const char* TallyWideSupported(const TallyArgs&, const Launch&) { return refusal; }
int64_t TallyWideWorkspace(const TallyArgs&, const Launch& l) {
  queried = l;
  return wanted;
}
Status TallyCuda(const TallyArgs& args, const Launch& l) {
  if (guarded != 1) return Status::Error("wrong device");
  return See("cuda", args, l);
}
#if OPCAST_ROCM
Status TallyMatrix(const TallyArgs& args, const Launch& l) { return See("matrix", args, l); }
const char* TallyMatrixSupported(const TallyArgs&, const Launch&) { return nullptr; }
#endif

}  // namespace probe_ops

#endif

namespace {

// Threads that call at the same time write into memory of their own.
alignas(64) thread_local float data[512];
thread_local int64_t number;
int32_t offsets[3] = {0, 2, 6};

const DLDataType kInt32 = {kDLInt, 32, 1}, kInt64 = {kDLInt, 64, 1}, kHalf = {kDLFloat, 16, 1};

// What a kernel says, in JSON; nothing if it takes the call.
inline std::string Says(const std::string& kernel, const std::string& device,
                        const std::string& reason) {
  return R"({"name":")" + kernel + R"(","device":")" + device + R"(","reason":")" + reason + "\"}";
}

// What the kernels for other devices than the CPU say to a call on it.
inline std::string NotForTheCPU() {
  return Says("tally_wide", "cuda", "is for cuda") + "," +
         Says("tally_cuda", "cuda", "is for cuda") + "," +
         Says("tally_matrix", "rocm", "is for rocm");
}

// What the kernels for the CPU say to a call elsewhere.
inline std::string NotOnTheCPU() {
  return Says("tally_few", "cpu", "is for cpu") + "," + Says("tally_picky", "cpu", "is for cpu") +
         "," + Says("tally_any", "cpu", "is for cpu");
}

// A right call of the op on rows of n columns; tests change one argument.
struct Tally {
  Raw y, x, starts, weight, part, values;
  std::vector<TVMFFIAny> args;

  explicit Tally(int64_t n = 6, DLDataType dtype = {kDLFloat, 32, 1}, int device = kDLCPU)
      : y(data, {2, 2}, dtype),
        x(data + 32, {2, n}, dtype),
        starts(offsets, {3}, kInt32),
        weight(data + 128, {2}),
        part(data + 256, {2, n < 2 ? 0 : n - 2}, dtype),
        values(&number, {}, kInt64) {
    for (Raw* r : {&y, &x, &starts, &weight, &part, &values})
      r->tensor.device = {static_cast<DLDeviceType>(device), 0};
    args = {y.any,  x.any,   starts.any, weight.any,          kNone,    kNone,
            Int(1), Int(-1), Text("t"),  Int(1, kTVMFFIBool), part.any, values.any};
  }
  // The error, or the kernel that ran.
  std::string Run() {
    seen = {};
    const std::string error = Ask(__tvm_ffi_tally, args);
    return error.empty() ? seen.kernel : error;
  }
  std::string Run(int index, const TVMFFIAny& value) {
    const TVMFFIAny right = args[index];
    args[index] = value;
    const std::string got = Run();
    args[index] = right;
    return got;
  }
  std::string About(Exported f) {
    std::vector<TVMFFIAny> all = {Text("tally")};
    all.insert(all.end(), args.begin(), args.end());
    return Ask(f, all);
  }
};

}  // namespace
