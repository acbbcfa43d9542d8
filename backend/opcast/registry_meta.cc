// The exports that describe the library itself.
#include <tvm/ffi/extra/c_env_api.h>

#include <atomic>
#include <memory>
#include <vector>

#include "opcast/registry.h"

namespace opcast {
namespace {

Op& Find(const Call& call) { return FindOp(call, call.Str(0, "op")); }

void ReturnInt(TVMFFIAny* result, int64_t value) {
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = value;
}

void ReturnObject(TVMFFIAny* result, int32_t type, TVMFFIObjectHandle object) {
  result->type_index = type;
  result->zero_padding = 0;
  result->v_obj = static_cast<TVMFFIObject*>(object);
}

void ReturnText(TVMFFIAny* result, const std::string& text) {
  const TVMFFIByteArray bytes{text.data(), text.size()};
  if (TVMFFIStringFromByteArray(&bytes, result) != 0) throw Raised();
}

void Schema(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_schema", args, count, 1);
  ReturnInt(result, Find(call).schema);
}

void Calls(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_calls", args, count, 1);
  ReturnInt(result, Find(call).calls.load(std::memory_order_relaxed));
}

// Names in the order of dispatch, separated by commas.
void Kernels(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_kernels", args, count, 1);
  const Op& op = Find(call);
  std::string names = RegisteredNames(op);
  for (const KernelInfo& k : op.kernels) names += std::string(names.empty() ? "" : ",") + k.name;
  ReturnText(result, names);
}

// The devices with a kernel in this library, separated by commas.
void Devices(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_devices", args, count, 0);
  ReturnText(result, BuiltDevices());
}

void Force(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("_opcast_force", args, count, 2);
  Find(call).Force(std::string(call.Str(1, "kernel")));
}

// Asks an op about a call whose arguments follow the op's name.
void Ask(const Call& call, Request::Task task, int32_t count, TVMFFIAny* result) {
  Request request{task};
  Find(call).body(call.args() + 1, count - 1, &request);
  ReturnText(result, request.text);
}

void ExplainCall(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  Ask(Call("_opcast_explain", args, count, count < 1 ? 1 : count), Request::Task::kExplain, count,
      result);
}

void ScratchOf(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  Ask(Call("_opcast_scratch", args, count, count < 1 ? 1 : count), Request::Task::kScratch, count,
      result);
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
  ReturnObject(result, kTVMFFITensor, out);
}

// A tensor whose memory does not exist.
struct Phantom {
  DLManagedTensorVersioned managed = {};
  std::vector<int64_t> shape, strides;
};

void Forget(DLManagedTensorVersioned* managed) {
  delete static_cast<Phantom*>(managed->manager_ctx);
}

// An address for `bytes` bytes that no other phantom has, as aligned as those of allocators. It is
// of no use but to be compared.
void* Nowhere(uint64_t bytes) {
  static std::atomic<uint64_t> next{uint64_t{1} << 48};
  constexpr uint64_t kPage = 4096, kMost = uint64_t{1} << 47;
  const uint64_t taken = (bytes < kMost ? bytes : kMost) / kPage * kPage + kPage;
  return reinterpret_cast<void*>(next.fetch_add(taken, std::memory_order_relaxed));
}

// An owning tensor without memory, to ask what would happen to a call.
void MakePhantom(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Call call("_opcast_phantom", args, count, 5);
  const int64_t rank = AsInts(args[0]).count;
  if (rank < 0) call.Expected("TypeError", "shape", "a list of integers", "another type");
  auto phantom = std::make_unique<Phantom>();
  phantom->shape.resize(static_cast<size_t>(rank));
  phantom->strides.assign(static_cast<size_t>(rank), 1);
  call.Ints(0, "shape", static_cast<int>(rank), phantom->shape.data());
  uint64_t bytes = 1;
  const DLDataType dtype = {static_cast<uint8_t>(call.Int(1, "code")),
                            static_cast<uint8_t>(call.Int(2, "bits")), 1};
  for (size_t d = phantom->shape.size(); d-- > 0;) {
    const int64_t n = phantom->shape[d];
    if (d > 0) __builtin_mul_overflow(phantom->strides[d], n, &phantom->strides[d - 1]);
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(n), &bytes)) bytes = UINT64_MAX;
  }
  if (__builtin_mul_overflow(bytes, uint64_t{dtype.bits}, &bytes)) bytes = UINT64_MAX;
  DLTensor& t = phantom->managed.dl_tensor;
  t = {Nowhere(bytes / 8),
       {static_cast<DLDeviceType>(call.Int(3, "device_type")),
        static_cast<int32_t>(call.Int(4, "device_id"))},
       static_cast<int32_t>(phantom->shape.size()),
       dtype,
       phantom->shape.data(),
       phantom->strides.data(),
       0};
  phantom->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  phantom->managed.manager_ctx = phantom.get();
  phantom->managed.deleter = Forget;
  TVMFFIObjectHandle out = nullptr;
  if (TVMFFITensorFromDLPackVersioned(&phantom->managed, 0, 0, &out) != 0) throw Raised();
  phantom.release();
  ReturnObject(result, kTVMFFITensor, out);
}

}  // namespace
}  // namespace opcast

OPCAST_META(schema, Schema)
OPCAST_META(calls, Calls)
OPCAST_META(kernels, Kernels)
OPCAST_META(devices, Devices)
OPCAST_META(force, Force)
OPCAST_META(explain, ExplainCall)
OPCAST_META(scratch, ScratchOf)
OPCAST_META(retype, Retype)
OPCAST_META(phantom, MakePhantom)
