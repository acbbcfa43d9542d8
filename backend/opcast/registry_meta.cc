// The exports that describe the library itself.
#include "opcast/ffi_owned.h"
#include "opcast/registry.h"
#include "opcast/registry_json.h"
#include "opcast/threads.h"
#include "opcast/tuned.h"

namespace opcast {
namespace {

Op& Find(const Call& call) { return FindOp(call, call.Str(0, "op")); }

void Schema(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_schema", args, count, 1);
  *result = IntValue(Find(call).schema);
}

void Calls(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_calls", args, count, 1);
  *result = IntValue(Find(call).calls.load(std::memory_order_relaxed));
}

// Names in the order of dispatch, in JSON.
void Kernels(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_kernels", args, count, 1);
  *result = StringValue(ToJson(Find(call).KernelNames())).Release();
}

// The kinds of the devices with a kernel in this library, in JSON.
void Devices(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_devices", args, count, 0);
  *result = StringValue(ToJson(BuiltDevices())).Release();
}

// The architecture of a device by which what is measured is kept: "avx2", "sm_90".
void Arch(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_arch", args, count, 2);
  const int64_t type = call.Int(0, "device_type"), number = call.Int(1, "device_id");
  CheckDevice(call, "device_type", type, "device_id", number);
  Launch launch{static_cast<int>(type), static_cast<int>(number), nullptr};
  if (type != kDLCPU) PrepareGpu(call, &launch);
  *result = StringValue(ArchName(launch)).Release();
}

void Force(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("_opcast_force", args, count, 2);
  Find(call).Force(std::string(call.Str(1, "kernel")));
}

// The same memory under another dtype of equal width: NumPy's ml_dtypes arrays enter as views of
// unsigned integers.
void Retype(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_retype", args, count, 3);
  const Tensor t = call.Array(0, "tensor");
  const int64_t code = call.Int(1, "code"), bits = call.Int(2, "bits");
  if (!t || args[0].type_index != kTVMFFITensor) {
    call.Expected("TypeError", "tensor", "an owning tensor", "another type");
  }
  DLTensor view = *Cell<DLTensor>(args[0]);
  if (bits != view.dtype.bits) {
    call.Expected("ValueError", "bits", std::to_string(view.dtype.bits), std::to_string(bits));
  }
  view.dtype.code = static_cast<uint8_t>(code);
  view.strides = const_cast<int64_t*>(t.strides());  // tvm-ffi wants some even for 0-d tensors
  TVMFFIObjectHandle out = nullptr;
  if (TVMFFITensorCreateUnsafeView(args[0].v_obj, &view, &out) != 0) throw Raised();
  *result = Owned(kTVMFFITensor, out).Release();
}

void GetNumThreads(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("get_num_threads", args, count, 0);
  *result = IntValue(NumThreads());
}

void SetThreads(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("set_num_threads", args, count, 1);
  const int64_t n = call.Int(0, "n");
  call.AtLeast("n", n, 1);
  call.AtMost("n", n, kMaxThreads);
  SetNumThreads(static_cast<int>(n));
}

// Takes the address of a ThreadLimit as an integer; 0 stands for none.
void SetLimit(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("limit_threads", args, count, 1);
  LimitThreads(reinterpret_cast<ThreadLimit>(static_cast<intptr_t>(call.Int(0, "address"))));
}

// The address of Lent, which callers in C++ keep.
void LentPlace(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_lent_threads", args, count, 0);
  result->type_index = kTVMFFIOpaquePtr;
  result->v_ptr = reinterpret_cast<void*>(&Lent);
}

}  // namespace
}  // namespace opcast

OPCAST_META(schema, Schema)
OPCAST_META(calls, Calls)
OPCAST_META(kernels, Kernels)
OPCAST_META(devices, Devices)
OPCAST_META(arch, Arch)
OPCAST_META(force, Force)
OPCAST_META(retype, Retype)
OPCAST_META(get_num_threads, GetNumThreads)
OPCAST_META(set_num_threads, SetThreads)
OPCAST_META(limit_threads, SetLimit)
OPCAST_META(lent_threads, LentPlace)
