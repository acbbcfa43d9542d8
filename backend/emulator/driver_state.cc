// The state of the emulated driver, what every call of it begins with, and what tests say to it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver.h"

namespace emulator {

State& TheState() {
  static State* const state = new State;  // outlives whatever calls at the end of the process
  return *state;
}

thread_local CUcontext current;

void Note(const std::string& line) {
  if (TheState().records) TheState().record += line + "\n";
}

Entry::Entry(const char* name, bool needs_context) : lock_(TheState().mutex), name_(name) {
  State& s = TheState();
  const bool fails = s.calls++ == s.fails_at;
  const bool always = std::strcmp(name, "cuInit") == 0;
  if (fails) {
    code_ = s.failure;
  } else if (!s.initialised && !always) {
    code_ = CUDA_ERROR_NOT_INITIALIZED;
  } else if (needs_context && current == nullptr) {
    code_ = CUDA_ERROR_INVALID_CONTEXT;
  } else if (needs_context) {
    code_ = current->alive ? current->broken : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  Note((code_ == CUDA_SUCCESS ? "" : "! ") + std::string(name));
}

CUresult Entry::Return(CUresult code) const {
  if (code != CUDA_SUCCESS) Note(std::string("! ") + name_);
  return code;
}

namespace {

// The devices if the environment names none.
#if OPCAST_ROCM
constexpr bool kAMD = true;
constexpr char kUsual[] = OPCAST_ROCM_ARCHS;
#else
constexpr bool kAMD = false;
constexpr char kUsual[] = "90,80";
#endif
constexpr char kVariable[] = "OPCAST_EMULATED_DEVICES";

// The architectures that a text such as "90,80" or "gfx90a:xnack+,gfx942" lists; the latter are
// hexadecimal, and what follows a colon does not count.
std::vector<int> ArchsOf(const char* text) {
  const char* const all = text;
  std::vector<int> archs;
  while (*text != '\0') {
    const bool amd = std::strncmp(text, "gfx", 3) == 0;
    char* end = nullptr;
    text += amd ? 3 : 0;
    archs.push_back(static_cast<int>(std::strtol(text, &end, amd ? 16 : 10)));
    if (end == text || amd != kAMD) {
      std::fprintf(stderr, "%s: expected architectures such as %s, got %s\n", kVariable, kUsual,
                   all);
      std::abort();
    }
    text = end + std::strcspn(end, ",");
    text += *text == ',' ? 1 : 0;
  }
  return archs;
}

// The devices that the environment names, or two.
std::vector<Device> Standard() {
  constexpr int kMostMultiprocessors = 8;
  const char* const named = std::getenv(kVariable);
  std::vector<Device> devices;
  for (const int arch : ArchsOf(named == nullptr ? kUsual : named))
    devices.push_back({arch, std::max(1, kMostMultiprocessors - static_cast<int>(devices.size()))});
  return devices;
}

}  // namespace
}  // namespace emulator

using emulator::TheState;

CUresult cuInit(unsigned) {
  ENTER();
  if (!TheState().initialised) TheState().devices = emulator::Standard();
  TheState().initialised = true;
  return TheState().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

void cuEmulatorFail(int64_t after, CUresult code) {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  TheState().fails_at = TheState().calls + after;
  TheState().failure = code;
}

int64_t cuEmulatorCalls() { return TheState().calls; }

void cuEmulatorBeginRecord() {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  TheState().records = true;
  TheState().record.clear();
}

const char* cuEmulatorReadRecord() {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  TheState().read.swap(TheState().record);
  TheState().record.clear();
  return TheState().read.c_str();
}

int64_t cuEmulatorAlive() {
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex);
  const emulator::State& s = TheState();
  size_t alive =
      s.streams.size() + s.events.size() + s.graphs.size() + s.ready.size() + s.memory.size();
  for (const auto& context : s.contexts) alive += context->alive;
  return static_cast<int64_t>(alive);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  static const std::map<CUresult, const char*> texts = {
      {CUDA_SUCCESS, "no error"},
      {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
      {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
      {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
      {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
      {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
      {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
      {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
      {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
      {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
      {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"},
      {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
      {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
       "operation failed due to a previous error during capture"},
      {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not initiated in this stream"},
      {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
       "operation would make the legacy stream depend on a capturing blocking stream"},
      {CUDA_ERROR_UNKNOWN, "unknown error"},
  };
  const auto found = texts.find(error);
  *text = found == texts.end() ? "unrecognized error code" : found->second;
  return found == texts.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
