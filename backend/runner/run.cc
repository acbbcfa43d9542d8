// Runs one recorded call of one op, without Python: the process that `opcast run` starts, and that
// a debugger or profiler sees.
//
// It prints "kernels <answers>", which is the JSON of _opcast_explain, or "kernel <name>" where one
// is forced, "call" when a call begins, "outside <array> <offset>" for bytes around an array that
// the first call changed, and after timed calls "time <median seconds> <fastest>". A raised error
// goes to stderr as "Class: text" and ends it with status 1. Status 2 means that the machine lacks
// what the case needs, 3 that the call broke something: a GPU that faults says so only afterwards.
// Status 4 is that of a call which touched memory that it may not, see guards.h.
#include <tvm/ffi/extra/c_env_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "case.h"
#include "guards.h"

namespace runner {
namespace {

// A call ended with an error of the library.
struct CallError {
  std::string text;
};

void* Open(const std::string& path, int flags) {
  void* library = dlopen(path.c_str(), RTLD_NOW | flags);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return library;
}

TVMFFISafeCallType Find(void* library, const std::string& name) {
  void* symbol = dlsym(library, ("__tvm_ffi_" + name).c_str());
  if (symbol == nullptr) throw std::runtime_error("the library exports no " + name);
  return reinterpret_cast<TVMFFISafeCallType>(symbol);
}

// tvm-ffi is opened at run time, like the collection, so its functions are looked up.
void* Symbol(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) throw std::runtime_error(std::string("tvm-ffi has no ") + name);
  return symbol;
}
#define RUNTIME(function) reinterpret_cast<decltype(&function)>(Symbol(#function))

std::string Raised() {
  TVMFFIObjectHandle error = nullptr;
  RUNTIME(TVMFFIErrorMoveFromRaised)(&error);
  if (error == nullptr) return "RuntimeError: unknown error";
  const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<const char*>(error) +
                                                              sizeof(TVMFFIObject));
  return std::string(cell->kind.data, cell->kind.size) + ": " +
         std::string(cell->message.data, cell->message.size);
}

TVMFFIAny Invoke(TVMFFISafeCallType function, const std::vector<TVMFFIAny>& values) {
  TVMFFIAny result = {};
  if (function(nullptr, values.data(), static_cast<int32_t>(values.size()), &result) != 0) {
    throw CallError{Raised()};
  }
  return result;
}

TVMFFIAny Text(const std::string& text) {
  TVMFFIAny value = {};
  value.type_index = kTVMFFIRawStr;
  value.v_c_str = text.c_str();
  return value;
}

// The string that a call returned.
std::string String(const TVMFFIAny& value) {
  if (value.type_index == kTVMFFISmallStr) return {value.v_bytes, value.small_str_len};
  const auto* bytes = reinterpret_cast<const TVMFFIByteArray*>(
      reinterpret_cast<const char*>(value.v_obj) + sizeof(TVMFFIObject));
  return {bytes->data, bytes->size};
}

// The arguments of a case in memory.
class Arguments {
 public:
  Arguments(const Case& c, Memory* memory) : case_(c), memory_(memory) {
    tensors_.resize(c.arguments.size());
    for (size_t i = 0; i < c.arguments.size(); ++i) {
      values_.push_back(c.arguments[i].kind == "array" ? Array(i) : Value(c.arguments[i]));
    }
    std::ifstream file(c.data, std::ios::binary);
    inputs_.assign(std::istreambuf_iterator<char>(file), {});
  }

  const std::vector<TVMFFIAny>& values() const { return values_; }

  // Gives every array its first contents; what the call has to write holds bytes that are NaN in
  // every float type.
  void Fill() {
    size_t at = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto& a = case_.arguments[i];
      if (a.kind != "array") continue;
      const size_t bytes = a.array.bytes();
      if (!a.array.read()) {
        const std::string poison(bytes, '\xff');
        memory_->Write(tensors_[i].data, poison.data(), bytes);
        continue;
      }
      if (inputs_.size() - at < bytes) throw std::runtime_error("the inputs are cut short");
      memory_->Write(tensors_[i].data, inputs_.data() + at, bytes);
      at += bytes;
    }
  }

  void Save() const {
    std::ofstream file(case_.results, std::ios::binary);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const auto& a = case_.arguments[i];
      if (a.kind != "array" || !a.array.written()) continue;
      std::string bytes(a.array.bytes(), '\0');
      memory_->Read(bytes.data(), tensors_[i].data, bytes.size());
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    if (!file.flush()) throw std::runtime_error("cannot write " + case_.results);
  }

  void Free() {
    for (DLTensor& t : tensors_) {
      if (t.data != nullptr) memory_->Free(t.data);
    }
  }

 private:
  TVMFFIAny Array(size_t i) {
    const auto& a = case_.arguments[i].array;
    DLTensor& t = tensors_[i];
    t.data = memory_->Allocate(a);
    t.device = case_.device;
    t.ndim = static_cast<int32_t>(a.shape.size());
    t.dtype = a.dtype;
    t.shape = const_cast<int64_t*>(a.shape.data());
    TVMFFIAny value = {};
    value.type_index = kTVMFFIDLTensorPtr;
    value.v_ptr = &t;
    return value;
  }

  // Strings are borrowed from the case, lists are one-dimensional tensors of the host.
  TVMFFIAny Value(const Argument& a) {
    TVMFFIAny value = a.value;
    if (a.kind == "str") {
      value.type_index = kTVMFFIRawStr;
      value.v_c_str = a.text.c_str();
    } else if (a.kind == "ints") {
      lists_.push_back(std::make_unique<List>());
      List& list = *lists_.back();
      list.size = static_cast<int64_t>(a.ints.size());
      list.tensor = {const_cast<int64_t*>(a.ints.data()),
                     {kDLCPU, 0},
                     1,
                     {kDLInt, 64, 1},
                     &list.size,
                     nullptr,
                     0};
      value.type_index = kTVMFFIDLTensorPtr;
      value.v_ptr = &list.tensor;
    }
    return value;
  }

  struct List {
    int64_t size;
    DLTensor tensor;
  };
  const Case& case_;
  Memory* const memory_;
  std::string inputs_;
  std::vector<DLTensor> tensors_;
  std::vector<std::unique_ptr<List>> lists_;
  std::vector<TVMFFIAny> values_;
};

// Prints the kernel that is forced, else what the library says of all of them.
void PrintKernels(const Case& c, void* library, const Arguments& arguments) {
  std::vector<TVMFFIAny> values = {Text(c.op)};
  values.insert(values.end(), arguments.values().begin(), arguments.values().end());
  const std::string answers = String(Invoke(Find(library, "_opcast_explain"), values));
  if (c.kernel.empty()) {
    std::printf("kernels %s\n", answers.c_str());
  } else {
    std::printf("kernel %s\n", c.kernel.c_str());
  }
}

// Tells that a call begins: whoever waits gives each call its time. Many in a row are told as one.
void Calls() {
  std::puts("call");
  std::fflush(stdout);
}
constexpr std::chrono::milliseconds kInterval{100};

void Time(const Case& c, TVMFFISafeCallType function, Arguments* arguments, Memory* memory) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  auto told = Clock::now();
  for (int i = 0; i < c.repeat; ++i) {
    if (Clock::now() - told > kInterval) {
      told = Clock::now();
      Calls();
    }
    const auto start = Clock::now();
    Invoke(function, arguments->values());
    memory->Wait();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("time %.9g %.9g\n", seconds[seconds.size() / 2], seconds[0]);
}

void Run(const Case& c) {
  Open(c.tvm_ffi, RTLD_GLOBAL);
  void* library = Open(c.library, RTLD_LOCAL);
  const TVMFFISafeCallType function = Find(library, c.op);
  if (!c.kernel.empty()) {
    Invoke(Find(library, "_opcast_force"), {Text(c.op), Text(c.kernel)});
  }
  const auto memory = MemoryOf(c.device, c.guards);
  if (c.device.device_type != kDLCPU) {
    void* before = nullptr;
    RUNTIME(TVMFFIEnvSetStream)(c.device.device_type, c.device.device_id, memory->stream(),
                                &before);
  }
  Arguments arguments(c, memory.get());
  if (!c.hollow) arguments.Fill();
  PrintKernels(c, library, arguments);
  memory->Watch();
  Calls();
  Invoke(function, arguments.values());
  memory->Wait();
  if (!c.hollow) arguments.Save();
  memory->Check();
  if (c.repeat > 0) Time(c, function, &arguments, memory.get());
  arguments.Free();
}

}  // namespace
}  // namespace runner

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 3;
  }
  try {
    runner::Run(runner::ReadCase(argv[1]));
    return 0;
  } catch (const runner::CallError& e) {
    std::fprintf(stderr, "%s\n", e.text.c_str());
    return 1;
  } catch (const runner::Lacks& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
