// The registry: the kernel variants of each op, and the dispatch among them. Generated code fills
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "opcast/op.h"
#include "opcast/registered.h"
#include "opcast/registry_scratch.h"
#if OPCAST_GPU
#include "opcast/gpu.h"
#endif

namespace opcast {

// Why a kernel does not take a call; empty if it does.
using Reason = std::string;

// One kernel of an op: how it is called, and what is known of it without its types. Generated code
// writes Variant<Args>("fast", kDLCPU, Launcher).Supported(Predicate).
template <class Args>
struct Variant : KernelInfo {
  using Launcher = Status (*)(const Args&, const Launch&);
  // Whether the kernel takes a call; if not, and `why` is given, that becomes the reason. Dispatch
  // gives none: it composes no text.
  using Predicate = bool (*)(const Args&, const Launch&, Reason* why);
  using Query = int64_t (*)(const Args&, const Launch&);
  // The number of the parameters that were best for the measured call nearest to this one.
  using Chooser = int (*)(const Args&, const Launch&);

  // A null launcher stands for a kernel that is not built into this library.
  constexpr Variant(const char* name, int device, Launcher launch)
      : KernelInfo{name, device, false, launch != nullptr, {}}, launch(launch) {}

  // Scratch pointers are null in a call of the predicate.
  constexpr Variant Supported(Predicate predicate) const {
    Variant v = *this;
    v.supported = predicate;
    return v;
  }
  constexpr Variant Workspace(Query query) const {
    Variant v = *this;
    v.query_workspace = query;
    return v;
  }
  constexpr Variant WithScratch() const {
    Variant v = *this;
    v.scratch = true;
    return v;
  }

  // Takes parameters. Without a chooser, nothing was measured: then they have their first values.
  constexpr Variant WithParams(Table<Param> list, Chooser chooser) const {
    Variant v = *this;
    v.params = list;
    v.choose = chooser;
    return v;
  }

  Predicate supported = nullptr;    // null for a kernel that takes every call on its device
  Query query_workspace = nullptr;  // bytes of scratch that it will use, or null
  Chooser choose = nullptr;         // of its parameters, or null
  Launcher launch;
};

// The name of a device type without an index: "cuda".
std::string DeviceKind(int device_type);

// The parameters of a choice: "[rows=64,step=2]"; empty for a kernel without any.
std::string ParamsText(const KernelInfo& kernel, int choice);

// The kinds of the devices with a kernel in this library, and one more.
std::vector<std::string> BuiltDevices(int more = -1);

// The items with the separator between them.
std::string Join(const std::vector<std::string>& items, const char* separator);

// Where a call on the device of `t` runs: its current stream.
void* StreamOf(DLDevice device);
inline Launch LaunchOn(const Tensor& t) {
  const DLDevice d = t.device();
  if (d.device_type == kDLCPU) return {kDLCPU, 0, nullptr};
  return {static_cast<int>(d.device_type), d.device_id, StreamOf(d)};
}

// Fills in what a GPU is. Why that device cannot be used, or ""; PrepareGpu throws
// that.
std::string ReadDevice(Launch* launch);
void PrepareGpu(const Call& call, Launch* launch);

// Makes the device of a launch, if that is a GPU, the current one of this thread while it lives.
// Throws RuntimeError if that is not possible.
class OnDevice {
 public:
  OnDevice(const Call& call, const Launch& launch);

 private:
#if OPCAST_GPU
  std::optional<gpu::DeviceGuard> guard_;
#endif
};

// Whether the library has code for the architecture of a GPU.
bool BuiltFor(const Launch& launch);

// Why no kernel of `device` can run, whatever the arguments are; empty if some may.
Reason Unfit(int device, bool built, const Launch& launch);

// What predicates return for a call that their kernel does not take: for a reason, for being made
// for other architectures, and for CPUs with a feature.
inline bool Declines(const char* reason, Reason* why) {
  if (why != nullptr) *why = reason;
  return false;
}
bool NeedsArch(const char* wanted, const Launch& launch, Reason* why);
bool NeedsFeature(const char* feature, Reason* why);

// Kernels that ask for features of x86-64 are in no library for other CPUs.
#if defined(__x86_64__)
#define OPCAST_CPU_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define OPCAST_ON_X86_64(function) OPCAST_ON_CPU(function)
#else
#define OPCAST_CPU_HAS(feature) false
#define OPCAST_ON_X86_64(function) nullptr
#endif

// Whether launches are written to stderr: <NAME>_LOG=calls, read with the first launch.
enum class Log { kUnread, kOff, kCalls };
extern std::atomic<Log> log_mode;
[[gnu::cold]] void LogLaunch(const Call& call, const Op& op, const std::string& kernel,
                             const Launch& launch);

// A text in quotes, on one line whatever it holds.
std::string Quoted(std::string_view text);

// Says why no kernel runs, with the reasons of those that are for the device.
[[noreturn]] void NoKernel(const Call& call, DLDevice device, const std::string& available,
                           const std::string& reasons);
// The same for kernels of which the forced one, if its index is not negative, is the only one
// meant.
[[noreturn, gnu::cold]] void Refuse(const Call& call, Op& op, const Launch& launch, int forced,
                                    const std::vector<KernelAnswer>& built_in);
// What every kernel says about a call: the registered ones, then those that are built in, whose
// answers are given.
std::vector<KernelAnswer> AllAnswers(const Call& call, Op& op, const Launch& launch,
                                     const std::vector<KernelAnswer>& built_in);

// The number of the parameters with which a kernel runs: those that are asked for, or measured
// ones.
template <class Args>
int Chosen(const Variant<Args>& v, int forced, const Args& args, const Launch& launch) {
  if (ChoiceOf(forced) >= 0) return ChoiceOf(forced);
  return v.choose == nullptr ? 0 : v.choose(args, launch);
}

template <class Args, size_t N>
std::vector<KernelAnswer> AnswersOf(const Variant<Args> (&variants)[N], const Args& args,
                                    const Launch& launch, const std::string& broken = "") {
  std::vector<KernelAnswer> answers;
  for (const Variant<Args>& v : variants) {
    Reason reason = Unfit(v.device, v.built, launch);
    if (reason.empty()) reason = broken;
    if (reason.empty() && v.supported != nullptr) v.supported(args, launch, &reason);
    const std::string params = reason.empty() ? ParamsText(v, Chosen(v, -1, args, launch)) : "";
    answers.push_back({v.name, v.device, reason, params});
  }
  return answers;
}

template <class Args>
bool Takes(const Variant<Args>& v, const Args& args, const Launch& launch) {
  if (v.device != launch.device_type || v.launch == nullptr) return false;
#if OPCAST_GPU
  if (launch.device_type == kGpu && !BuiltFor(launch)) return false;
#endif
  return v.supported == nullptr || v.supported(args, launch, nullptr);
}

template <class Args>
[[gnu::always_inline]] inline void Run(const Call& call, Op& op, const Variant<Args>& v,
                                       const Args& args, const Launch& launch) {
  // XLA's threads flush denormals, others do not, and bits must not depend on the caller.
  const FpEnv environment;
  op.calls.fetch_add(1, std::memory_order_relaxed);
  const Status status = v.launch(args, launch);
  if (!status.ok()) call.Throw("RuntimeError", status.text());
}

template <class Args>
void RunWith(const Work& work, const Call& call, Op& op, const Variant<Args>& v, const Args& args,
             const Launch& launch) {
  const OnDevice device(call, launch);
  if (v.query_workspace != nullptr)
    CheckWorkspace(call, v.name, v.query_workspace(args, launch), work);
  const ScratchMemory memory(call, v.scratch ? work : Work{}, launch);
  Run(call, op, v, args, launch);
}

template <class Args, size_t N>
[[gnu::cold]] void Answer(const Call& call, Op& op, const Variant<Args> (&variants)[N],
                          const Args& args, Launch launch, const Work& work) {
  if (work.request->task == Request::Task::kScratch) {
    work.request->scratch = NeedsOf(work);
    return;
  }
  const std::string broken = ReadDevice(&launch);
  work.request->kernels = AllAnswers(call, op, launch, AnswersOf(variants, args, launch, broken));
}

// Runs the first kernel that takes the call, or answers its request. A call on the CPU that brings
// no scratch costs little more than its kernel.
template <class Args, size_t N>
[[gnu::always_inline]] inline void Dispatch(const Call& call, Op& op,
                                            const Variant<Args> (&variants)[N], const Args& args,
                                            Launch launch, const Work& work) {
  static_assert(N <= kMostKernels);
  if (!Launches(work.request)) return Answer(call, op, variants, args, launch, work);
  if (launch.device_type != kDLCPU) PrepareGpu(call, &launch);
  int forced = op.Forced();
  if (__builtin_expect(op.registered.load(std::memory_order_acquire) != 0 || forced >= kRegistered,
                       false)) {
    int now = forced;
    if (RunRegistered(call, op, launch, &now)) return;
    forced = now;
  }
  for (int i = 0; i < static_cast<int>(N); ++i) {
    const Variant<Args>& v = variants[i];
    if ((forced >= 0 && KernelOf(forced) != i) || !Takes(v, args, launch)) continue;
    if (v.params.size() != 0) launch.choice = Chosen(v, forced, args, launch);
    if (__builtin_expect(log_mode.load(std::memory_order_relaxed) != Log::kOff, false))
      LogLaunch(call, op, v.name + ParamsText(v, launch.choice), launch);
    if (work.count != 0 || launch.device_type != kDLCPU)
      return RunWith(work, call, op, v, args, launch);
    return Run(call, op, v, args, launch);
  }
  Refuse(call, op, launch, forced, AnswersOf(variants, args, launch));
}

}  // namespace opcast

// An export of the library itself: a body as Export takes it.
#define OPCAST_META(symbol, body)                                                           \
  OPCAST_EXPORT int __tvm_ffi__opcast_##symbol(void*, const TVMFFIAny* args, int32_t count, \
                                               TVMFFIAny* result) {                         \
    return opcast::Export("_opcast_" #symbol, opcast::body, args, count, result);           \
  }
