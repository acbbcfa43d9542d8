#include "xla_call.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "xla_arguments.h"
#include "xla_threads.h"

namespace opcast_jax {
namespace {

// The oldest minor version of the C API with all that is used here: a handler that reports a newer
// one than XLA knows is rejected.
constexpr int kApiMinor = 1;

XLA_FFI_Error* Error(const XLA_FFI_Api* api, XLA_FFI_Error_Code code, const std::string& text) {
  XLA_FFI_Error_Create_Args args = {};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text.c_str();
  args.errc = code;
  return api->XLA_FFI_Error_Create(&args);
}

XLA_FFI_Error_Code Code(const std::string& kind) {
  if (kind == "ValueError" || kind == "TypeError") return XLA_FFI_Error_Code_INVALID_ARGUMENT;
  if (kind == "NotImplementedError") return XLA_FFI_Error_Code_UNIMPLEMENTED;
  if (kind == "MemoryError") return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
  return XLA_FFI_Error_Code_INTERNAL;
}

// Turns the error that was raised on this thread into XLA's, as "Class: text"; `what` stands before
// a text that does not say itself what failed.
XLA_FFI_Error* Raised(const XLA_FFI_Api* api, const std::string& what = "") {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) {
    return Error(api, XLA_FFI_Error_Code_INTERNAL, "RuntimeError: " + what + "unknown error");
  }
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  const std::string kind(cell->kind.data, cell->kind.size);
  const std::string text = kind + ": " + what + std::string(cell->message.data, cell->message.size);
  TVMFFIObjectDecRef(error);
  return Error(api, Code(kind), text);
}

// XLA asks a new handler for its properties by calling it with this extension.
bool AnswerMetadata(const XLA_FFI_CallFrame& frame) {
  const auto* base = frame.extension_start;
  if (base == nullptr || base->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* metadata = reinterpret_cast<const XLA_FFI_Metadata_Extension*>(base)->metadata;
  metadata->api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  metadata->api_version.extension_start = nullptr;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = kApiMinor;
  metadata->traits = XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
  return true;
}

// Reads on which device and stream XLA runs a call for a GPU.
XLA_FFI_Error* Place(const XLA_FFI_CallFrame& frame, DLDevice* device, void** stream) {
  const XLA_FFI_Api* api = frame.api;
  if (api->struct_size < offsetof(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get) + sizeof(void*)) {
    return Error(api, XLA_FFI_Error_Code_UNIMPLEMENTED,
                 "NotImplementedError: this jaxlib does not tell the device of a call");
  }
  XLA_FFI_DeviceOrdinal_Get_Args ordinal = {};
  ordinal.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE;
  ordinal.ctx = frame.ctx;
  if (XLA_FFI_Error* error = api->XLA_FFI_DeviceOrdinal_Get(&ordinal)) return error;
  device->device_id = ordinal.device_ordinal;
  XLA_FFI_Stream_Get_Args current = {};
  current.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
  current.ctx = frame.ctx;
  if (XLA_FFI_Error* error = api->XLA_FFI_Stream_Get(&current)) return error;
  *stream = current.stream;
  return nullptr;
}

// Makes a stream the one that exports find in tvm-ffi's environment, as long as this lives.
class CurrentStream {
 public:
  CurrentStream(DLDevice device, void* stream) : device_(device) {
    if (device_.device_type == kDLCPU) return;
    set_ = TVMFFIEnvSetStream(device_.device_type, device_.device_id, stream, &before_) == 0;
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  // Whether the export may run: on another stream it would read what is not there yet.
  bool ok() const { return device_.device_type == kDLCPU || set_; }
  ~CurrentStream() {
    if (set_) TVMFFIEnvSetStream(device_.device_type, device_.device_id, before_, nullptr);
  }

 private:
  const DLDevice device_;
  TVMFFIStreamHandle before_ = nullptr;
  bool set_ = false;
};

}  // namespace

XLA_FFI_Error* Call(int index, DLDeviceType type, XLA_FFI_CallFrame* frame) noexcept {
  if (AnswerMetadata(*frame)) return nullptr;
  DLDevice device = {type, 0};
  void* stream = nullptr;
  if (type != kDLCPU) {
    if (XLA_FFI_Error* error = Place(*frame, &device, &stream)) return error;
  }
  Arguments arguments(kOps[index], device);
  if (!arguments.Collect(*frame)) {
    return Error(frame->api, XLA_FFI_Error_Code_INTERNAL, arguments.fault());
  }
  CurrentStream current(device, stream);
  if (!current.ok()) {
    return Raised(frame->api, kOps[index].name + std::string(": the stream cannot be set: "));
  }
  const LentThreads lent(*frame, type == kDLCPU);
  TVMFFIAny result = {};
  if (functions[index](nullptr, arguments.values(), arguments.count(), &result) == 0) {
    return nullptr;
  }
  return Raised(frame->api);
}

}  // namespace opcast_jax

void* opcast_jax_bind(const char* op, int64_t schema, void* function, int device) {
  using opcast_jax::kOps;
  for (int i = 0; i < opcast_jax::kOpCount; ++i) {
    if (std::strcmp(kOps[i].name, op) != 0 || kOps[i].schema != schema) continue;
    opcast_jax::functions[i] = reinterpret_cast<TVMFFISafeCallType>(function);
    XLA_FFI_Handler* const on_gpu = device == kDLROCM ? kOps[i].on_rocm : kOps[i].on_cuda;
    return reinterpret_cast<void*>(device == kDLCPU ? kOps[i].on_cpu : on_gpu);
  }
  return nullptr;
}
