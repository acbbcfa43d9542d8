// The handlers of the JAX adaptor without XLA: frames as XLA makes them, and an export that writes
// down what it gets.
#include "xla_call.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

int checks = 0, failures = 0;

void Expect(const std::string& got, const std::string& want) {
  ++checks;
  if (got == want) return;
  ++failures;
  std::fprintf(stderr, "got  %s\nwant %s\n", got.c_str(), want.c_str());
}

void* const kOurs = reinterpret_cast<void*>(0x10);    // the stream that XLA names
void* const kTheirs = reinterpret_cast<void*>(0x20);  // the one that was current before
void* current = kTheirs;
bool refuses = false;  // whether tvm-ffi fails to set a stream
std::string seen;      // what the export got
std::string raised;    // what went wrong

// Writes a call down: every tensor with its place in memory, and where it runs.
int Record(void*, const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  seen.clear();
  for (int i = 0; i < count; ++i) {
    if (args[i].type_index == kTVMFFINone) {
      seen += "None ";
      continue;
    }
    if (args[i].type_index == kTVMFFIInt) {
      seen += "int ";
      continue;
    }
    const auto* t = static_cast<const DLTensor*>(args[i].v_ptr);
    seen += std::to_string(reinterpret_cast<uintptr_t>(t->data)) + "@" +
            std::to_string(t->device.device_type) + ":" + std::to_string(t->device.device_id) + " ";
  }
  seen += current == kOurs ? "ours" : "theirs";
  return 0;
}

XLA_FFI_Error* Create(XLA_FFI_Error_Create_Args* args) {
  raised = args->message;
  return reinterpret_cast<XLA_FFI_Error*>(&raised);
}

XLA_FFI_Error* Stream(XLA_FFI_Stream_Get_Args* args) {
  args->stream = kOurs;
  return nullptr;
}

XLA_FFI_Error* Ordinal(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  args->device_ordinal = 3;
  return nullptr;
}

// One call: the optional input is absent, buffer i lies at address i.
struct Frame {
  XLA_FFI_Api api = {};
  XLA_FFI_CallFrame frame = {};
  int64_t dims[1] = {2};
  XLA_FFI_Buffer buffers[16] = {};
  std::vector<void*> args, rets;
  int64_t present = 0b101;
  bool saved = false;
  int64_t lengths[1] = {2};
  XLA_FFI_Array list = {XLA_FFI_DataType_S64, 1, lengths};
  XLA_FFI_Scalar flags[2] = {{XLA_FFI_DataType_S64, &present}, {XLA_FFI_DataType_PRED, &saved}};
  void* values[3] = {&flags[0], &flags[1], &list};
  XLA_FFI_ByteSpan names[3] = {
      {opcast_jax::kPresent, 8}, {opcast_jax::kSaved, 6}, {opcast_jax::kLengths, 8}};
  XLA_FFI_ByteSpan* spans[3] = {&names[0], &names[1], &names[2]};
  XLA_FFI_AttrType types[3] = {XLA_FFI_AttrType_SCALAR, XLA_FFI_AttrType_SCALAR,
                               XLA_FFI_AttrType_ARRAY};

  Frame(std::vector<int> inputs, std::vector<int> results) {
    api.struct_size = XLA_FFI_Api_STRUCT_SIZE;
    api.XLA_FFI_Error_Create = Create;
    api.XLA_FFI_Stream_Get = Stream;
    api.XLA_FFI_DeviceOrdinal_Get = Ordinal;
    frame.api = &api;
    for (int at : inputs) args.push_back(At(at));
    for (int at : results) rets.push_back(At(at));
    frame.args.size = static_cast<int64_t>(args.size());
    frame.args.args = args.data();
    frame.rets.size = static_cast<int64_t>(rets.size());
    frame.rets.rets = rets.data();
    frame.attrs.size = 3;
    frame.attrs.names = spans;
    frame.attrs.types = types;
    frame.attrs.attrs = values;
  }
  Frame(const Frame&) = delete;  // its parts point at each other
  Frame& operator=(const Frame&) = delete;

  void* At(int place) {
    buffers[place] = {0, nullptr, XLA_FFI_DataType_F32, reinterpret_cast<void*>(uintptr_t(place)),
                      1, dims};
    return &buffers[place];
  }

  // What the export saw, or the error.
  std::string Run(DLDeviceType device, const char* op = "op") {
    auto* handler = reinterpret_cast<XLA_FFI_Handler*>(
        opcast_jax_bind(op, 7, reinterpret_cast<void*>(Record), device));
    const bool fine = handler(&frame) == nullptr;
    Expect(current == kTheirs ? "restored" : "left set", "restored");
    return fine ? seen : raised;
  }
};

void Calls() {
  // Outputs, the saved one absent; inputs, the second absent, the third where its result is;
  // scratch.
  Expect(Frame({1, 2}, {3, 2, 4, 5}).Run(kDLCPU), "3@1:0 None 1@1:0 None 2@1:0 4@1:0 5@1:0 theirs");
  Expect(Frame({1, 2}, {3, 2, 4, 5}).Run(kDLCUDA), "3@2:3 None 1@2:3 None 2@2:3 4@2:3 5@2:3 ours");
  Expect(Frame({1, 2}, {3, 2}).Run(kDLCUDA), "3@2:3 None 1@2:3 None 2@2:3 None None ours");
  Expect(Frame({1, 2}, {3}).Run(kDLCUDA), "RuntimeError: op: too few results");
  Expect(Frame({1, 2}, {3, 2, 4}).Run(kDLCUDA), "RuntimeError: op: too few results");
  Expect(Frame({1, 2}, {3, 2, 4, 5, 6}).Run(kDLCUDA), "RuntimeError: op: too many results");
  Expect(Frame({1, 2}, {3, 5, 4, 6}).Run(kDLCUDA),
         "RuntimeError: op: a mutated input and its result lie apart");
}

// The lengths, then the output list, an overwritten list where its results are, and an array.
void Lists() {
  const auto run = [](std::vector<int> inputs, std::vector<int> results, int64_t length) {
    Frame frame(std::move(inputs), std::move(results));
    frame.lengths[0] = length;
    return frame.Run(kDLCPU, "lists");
  };
  Expect(run({1, 2, 3}, {4, 5, 1, 2}, 2), "int 4@1:0 5@1:0 1@1:0 2@1:0 3@1:0 theirs");
  Expect(run({1, 3}, {4, 1}, 1), "int 4@1:0 1@1:0 3@1:0 theirs");
  Expect(run({1, 2, 3}, {4, 1}, 1), "RuntimeError: lists: too many inputs");
  Expect(run({1, 2, 3}, {4, 5, 6, 1, 2, 3}, 3), "RuntimeError: lists: too few inputs");
  Expect(run({1, 2, 3}, {4}, 2), "RuntimeError: lists: too few results");
  Frame missing({1, 3}, {4, 1});
  missing.frame.attrs.size = 2;
  Expect(missing.Run(kDLCPU, "lists"), "RuntimeError: lists: the lengths of lists are missing");
}

void Versions() {
  Frame old({1, 2}, {3, 2, 4, 5});
  old.api.struct_size = offsetof(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
  Expect(old.Run(kDLCPU), "3@1:0 None 1@1:0 None 2@1:0 4@1:0 5@1:0 theirs");
  Expect(old.Run(kDLCUDA), "NotImplementedError: this jaxlib does not tell the device of a call");
  Frame stream({1, 2}, {3, 2, 4, 5});
  stream.api.XLA_FFI_Stream_Get = [](XLA_FFI_Stream_Get_Args*) {
    raised = "no stream";
    return reinterpret_cast<XLA_FFI_Error*>(&raised);
  };
  Expect(stream.Run(kDLCUDA), "no stream");
  refuses = true;
  Frame unset({1, 2}, {3, 2, 4, 5});
  Expect(unset.Run(kDLCUDA), "RuntimeError: op: the stream cannot be set: unknown error");
  Expect(unset.Run(kDLCPU), "3@1:0 None 1@1:0 None 2@1:0 4@1:0 5@1:0 theirs");
  refuses = false;
  Expect(opcast_jax_bind("op", 8, nullptr, kDLCPU) ? "bound" : "refused", "refused");
}

}  // namespace

namespace opcast_jax {

const DType kDTypes[] = {{XLA_FFI_DataType_F32, {kDLFloat, 32, 1}}};
const int kDTypeCount = 1;
constexpr Output kOutputs[] = {{false, -1, -1}, {true, -1, -1}};
constexpr Input kInputs[] = {{false, false, -1}, {true, false, -1}, {false, true, -1}};
constexpr Output kListOutputs[] = {{false, -1, 0}};
constexpr Input kListInputs[] = {{false, true, 0}, {false, false, -1}};
const Op kOps[] = {{"op", 7, kOutputs, 2, kInputs, 3, nullptr, 0, 2, Handler<0, kDLCPU>,
                    Handler<0, kDLCUDA>, Handler<0, kDLROCM>},
                   {"lists", 7, kListOutputs, 1, kListInputs, 2, nullptr, 0, 0, Handler<1, kDLCPU>,
                    Handler<1, kDLCUDA>, Handler<1, kDLROCM>}};
const int kOpCount = 2;
TVMFFISafeCallType functions[2];

}  // namespace opcast_jax

// What the handlers use of tvm-ffi.
int TVMFFIEnvSetStream(int32_t, int32_t, TVMFFIStreamHandle stream, TVMFFIStreamHandle* before) {
  if (refuses) return -1;
  if (before != nullptr) *before = current;
  current = stream;
  return 0;
}
void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle* error) { *error = nullptr; }
int TVMFFIObjectDecRef(TVMFFIObjectHandle) { return 0; }
int TVMFFIStringFromByteArray(const TVMFFIByteArray*, TVMFFIAny*) { return 0; }

int main() {
  Calls();
  Lists();
  Versions();
  std::printf("%s %d checks\n", failures == 0 ? "ok" : "FAILED", checks);
  return failures == 0 ? 0 : 1;
}
