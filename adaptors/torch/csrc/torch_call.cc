#include "torch_call.h"

#include <dlfcn.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <mutex>
#include <new>
#include <string>

#include "torch_frame.h"

namespace opcast_torch {
namespace {

// How a collection is lent threads, see its threads.h.
using Lent = decltype(&torch_parallel_for)*;

// The collection: its functions _opcast_op and _opcast_make.
struct Collection {
  TVMFFISafeCallType find = nullptr;
  TVMFFISafeCallType make = nullptr;
  // Where this thread says which threads loops of its calls run on; null in collections without it.
  Lent (*lent)() = nullptr;
};
Collection collection;
std::mutex binding;

// Throws the error that an export raised on this thread, as "Class: text": PyTorch knows no classes
// but its own. The error stays raised, for callers that know more (_opcast_raise).
[[noreturn]] void Raise() {
  TVMFFIObjectHandle error = nullptr;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == nullptr) throw std::runtime_error("RuntimeError: unknown error");
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  const std::string text = std::string(cell->kind.data, cell->kind.size) + ": " +
                           std::string(cell->message.data, cell->message.size);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  throw std::runtime_error(text);
}

// Asks the collection where to lend it threads.
void FindLent(TVMFFISafeCallType ask) {
  TVMFFIAny result = {};
  if (ask != nullptr && ask(nullptr, nullptr, 0, &result) == 0) {
    collection.lent = reinterpret_cast<Lent (*)()>(result.v_ptr);
  }
}

// Opens the collection's library: the one beside this file, else the one that the loader finds.
void Open() {
  Dl_info self = {};
  std::string beside;
  if (dladdr(reinterpret_cast<void*>(&Open), &self) != 0 && self.dli_fname != nullptr) {
    const std::string path = self.dli_fname;
    beside = path.substr(0, path.rfind('/') + 1) + kLibrary;
  }
  void* library = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error(std::string("ImportError: ") + (why == nullptr ? kLibrary : why));
  }
  collection.find = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi__opcast_op"));
  collection.make = reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi__opcast_make"));
  FindLent(reinterpret_cast<TVMFFISafeCallType>(dlsym(library, "__tvm_ffi__opcast_lent_threads")));
}

// Asks the collection for an op.
void* Find(int index) {
  const std::lock_guard<std::mutex> lock(binding);
  if (known[index] != nullptr) return known[index];
  if (collection.make == nullptr) Open();
  TVMFFIAny arguments[2] = {Value(kTVMFFIRawStr), Value(kTVMFFIInt)}, result = {};
  arguments[0].v_c_str = kOps[index].name;
  arguments[1].v_int64 = kOps[index].definition;
  if (collection.find == nullptr || collection.find(nullptr, arguments, 2, &result) != 0) Raise();
  if (result.type_index != kTVMFFIOpaquePtr) {
    throw std::runtime_error(std::string("ImportError: ") + kOps[index].name + ": " + kLibrary +
                             " comes from another definition: run `opcast build` again");
  }
  __atomic_store_n(&known[index], result.v_ptr, __ATOMIC_RELEASE);
  return result.v_ptr;
}

using GetStream = AOTITorchError (*)(int32_t, void**);

// PyTorch's function for the current stream of a GPU; null where PyTorch is built without one.
// libtorch_cuda or libtorch_hip has it, which this library cannot link, since neither need be
// there. Python loads them for itself, so that the global scope does not have them either, but
// libtorch depends on them.
GetStream FindGetStream() {
  constexpr char kName[] = "aoti_torch_get_current_cuda_stream";
  void* torch = dlopen("libtorch.so", RTLD_LAZY | RTLD_NOLOAD);
  void* found = torch == nullptr ? nullptr : dlsym(torch, kName);
  if (torch != nullptr) dlclose(torch);  // as many references as before
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, kName);
  return reinterpret_cast<GetStream>(found);
}

// Makes PyTorch's current stream the one that exports find in tvm-ffi's environment, as long as
// this lives.
class CurrentStream {
 public:
  explicit CurrentStream(DLDevice device) : device_(device) {
    if (device_.device_type == kDLCPU) return;
    static const GetStream get = FindGetStream();
    if (get == nullptr) {  // on another stream, the op would not wait for what it reads
      throw std::runtime_error("RuntimeError: PyTorch's current stream was not found");
    }
    void* stream = nullptr;
    Ok(get(device_.device_id, &stream), "RuntimeError: no current stream");
    if (TVMFFIEnvSetStream(device_.device_type, device_.device_id, stream, &before_) != 0) Raise();
    set_ = true;
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream() {
    if (set_) TVMFFIEnvSetStream(device_.device_type, device_.device_id, before_, nullptr);
  }

 private:
  const DLDevice device_;
  TVMFFIStreamHandle before_ = nullptr;
  bool set_ = false;
};

// Has loops on the CPU run on PyTorch's threads, as long as this lives.
class LentThreads {
 public:
  explicit LentThreads(DLDevice device)
      : place_(device.device_type == kDLCPU && collection.lent != nullptr ? collection.lent()
                                                                          : nullptr) {
    if (place_ != nullptr) before_ = std::exchange(*place_, &torch_parallel_for);
  }
  LentThreads(const LentThreads&) = delete;
  LentThreads& operator=(const LentThreads&) = delete;
  ~LentThreads() {
    if (place_ != nullptr) *place_ = before_;
  }

 private:
  const Lent place_;
  decltype(&torch_parallel_for) before_ = nullptr;
};

}  // namespace

void Call(int index, Form form, Boxed* stack) {
  try {
    void* op = __atomic_load_n(&known[index], __ATOMIC_ACQUIRE);
    if (op == nullptr) op = Find(index);
    Frame frame(kOps[index], form, stack);
    const auto& arguments = frame.Arguments(op);
    const CurrentStream stream(frame.device());
    const LentThreads lent(frame.device());
    TVMFFIAny result = {};
    const auto count = static_cast<int32_t>(arguments.size());
    if (collection.make(nullptr, arguments.begin(), count, &result) != 0) Raise();
    frame.Return();
  } catch (const std::bad_alloc&) {  // the collection says the same of results
    const char* parts[] = {kOps[index].name, ": out of memory"};
    TVMFFIErrorSetRaisedFromCStrParts("MemoryError", parts, 2);
    Raise();
  }
}

}  // namespace opcast_torch

// Gives the library the functions of its collection. The result says whether its ops are in
// PyTorch's registry, which has no place for the ops of two libraries of one namespace.
extern "C" __attribute__((visibility("default"))) bool opcast_torch_bind(void* find, void* make,
                                                                         void* lent) {
  const std::lock_guard<std::mutex> lock(opcast_torch::binding);
  opcast_torch::collection = {reinterpret_cast<TVMFFISafeCallType>(find),
                              reinterpret_cast<TVMFFISafeCallType>(make), nullptr};
  opcast_torch::FindLent(reinterpret_cast<TVMFFISafeCallType>(lent));
  return opcast_torch::Registered();
}

// Where the streams of GPUs come from, for tests on machines that have none.
extern "C" __attribute__((visibility("default"))) void* opcast_torch_stream_getter() {
  return reinterpret_cast<void*>(opcast_torch::FindGetStream());
}

// How many threads PyTorch lets an op use: set_limit of the collection takes the address.
extern "C" __attribute__((visibility("default"))) int32_t opcast_torch_threads(uint32_t* count) {
  return torch_get_num_threads(count);
}
