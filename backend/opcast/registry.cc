// Ops by name, what makes a kernel fit a device, and what is said when none does.
#include "opcast/registry.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <algorithm>
#include <cstdio>

#include "opcast/archs.h"
#include "opcast/parallel.h"
#include "opcast/tuned.h"

#if OPCAST_CUDA && !defined(OPCAST_CUDA_ARCHS)
#error "define OPCAST_CUDA_ARCHS as the architectures that were compiled, such as 80,90+PTX"
#endif
#if OPCAST_ROCM && !defined(OPCAST_ROCM_ARCHS)
#error "define OPCAST_ROCM_ARCHS as the architectures that were compiled, such as gfx90a,gfx942"
#endif

namespace opcast {
namespace {

void AddOnce(std::vector<std::string>* list, const std::string& item) {
  if (std::find(list->begin(), list->end(), item) == list->end()) list->push_back(item);
}

}  // namespace

int Op::AttrCount() const {
  int count = 0;
  for (const Attr& a : attrs) count += a.type != AttrType::kDType;
  return count;
}

Op* FindOp(std::string_view name) {
  for (int i = 0; i < kOpCount; ++i) {
    if (name == kOps[i]->name) return kOps[i];
  }
  return nullptr;
}

Op* FindOp(int64_t kind) {
  for (int i = 0; i < kOpCount; ++i) {
    if (kind == kOps[i]->kind) return kOps[i];
  }
  return nullptr;
}

Op& FindOp(const Call& call, std::string_view name) {
  Op* op = FindOp(name);
  if (op == nullptr) call.Throw("KeyError", "no op '" + std::string(name) + "' in this library");
  return *op;
}

std::string DeviceKind(int device_type) {
  const std::string name = DeviceName({static_cast<DLDeviceType>(device_type), 0});
  return name.substr(0, name.find(':'));
}

std::vector<std::string> BuiltDevices(int more) {
  std::vector<std::string> names;
  for (const int device : {kDLCPU, kDLCUDA, kDLROCM}) {
    bool there = device == more;
    for (int i = 0; i < kOpCount; ++i) {
      const KernelTable& kernels = kOps[i]->kernels;
      for (int k = 0; k < kernels.size(); ++k)
        there = there || (kernels[k].built && kernels[k].device == device);
    }
    if (there) names.push_back(DeviceKind(device));
  }
  return names;
}

std::string Join(const std::vector<std::string>& items, const char* separator) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : separator) + item;
  return text;
}

int TunedArch(const Launch& launch) {
  if (launch.device_type != kDLCPU) return launch.arch;
#if defined(__x86_64__)
  return static_cast<int>(detail::BestSimd());
#else
  return kOtherCpus;
#endif
}

std::string ArchName(const Launch& launch) {
  char text[16];
  std::snprintf(text, sizeof text, launch.device_type == kDLROCM ? "gfx%x" : "sm_%d", launch.arch);
  if (launch.device_type != kDLCPU) return text;
  return detail::kSimdNames[static_cast<int>(detail::BestSimd())];
}

void* StreamOf(DLDevice device) { return TVMFFIEnvGetStream(device.device_type, device.device_id); }

#if OPCAST_GPU
namespace {

std::string Unusable(int device, const std::string& why) {
  return DeviceName({kGpu, device}) + " cannot be used: " + why;
}

#if OPCAST_CUDA
constexpr Archs kBuilt(OPCAST_CUDA_ARCHS);
constexpr const char *kBuiltText = OPCAST_CUDA_ARCHS, *kBuiltTable = "[cuda]";
#else
constexpr Archs kBuilt(OPCAST_ROCM_ARCHS);
constexpr const char *kBuiltText = OPCAST_ROCM_ARCHS, *kBuiltTable = "[rocm]";
#endif

// "sm_80, sm_90+PTX" for the list "80,90+PTX".
std::string BuiltArchs() {
  const std::string begin = OPCAST_CUDA ? "sm_" : "";
  std::string text = begin;
  for (const char* c = kBuiltText; *c != '\0'; ++c)
    text += *c == ',' ? ", " + begin : std::string(1, *c);
  return text;
}

}  // namespace
#endif

OnDevice::OnDevice([[maybe_unused]] const Call& call, [[maybe_unused]] const Launch& launch) {
#if OPCAST_GPU
  if (launch.device_type != kGpu) return;
  const Status& status = guard_.emplace(launch.device_id).status();
  if (!status.ok()) call.Throw("RuntimeError", Unusable(launch.device_id, status.text()));
#endif
}

std::string ReadDevice([[maybe_unused]] Launch* launch) {
#if OPCAST_GPU
  if (launch->device_type == kGpu) {
    const gpu::Properties found = gpu::PropertiesOf(launch->device_id);
    launch->arch = found.arch;
    launch->sm_count = found.sm_count;
    if (!found.error.empty()) return Unusable(launch->device_id, found.error);
  }
#endif
  return "";
}

void PrepareGpu(const Call& call, Launch* launch) {
  const std::string broken = ReadDevice(launch);
  if (!broken.empty()) call.Throw("RuntimeError", broken);
}

bool BuiltFor([[maybe_unused]] const Launch& launch) {
#if OPCAST_GPU
  return kBuilt.RunOn(launch.arch);
#else
  return true;
#endif
}

Reason Unfit(int device, bool built, const Launch& launch) {
  if (device != launch.device_type) return "is for " + DeviceKind(device);
  if (!built && device == kDLCPU && OPCAST_CPU != 0)
    return "asks for features of x86-64, and this library is for another CPU";
  if (!built && device != kDLCPU && OPCAST_EMULATED != 0)
    return OPCAST_ROCM != 0 ? "not emulated: its file is compiled by hipcc only"
                            : "not emulated: its file is compiled by nvcc only";
  if (!built)
    return "not built into this library: run opcast build --device " +
           Join(BuiltDevices(device), ",");
#if OPCAST_GPU
  if (launch.arch != 0 && !BuiltFor(launch)) {
    return "built for " + BuiltArchs() + "; this device is " + ArchName(launch) + ": add it to " +
           kBuiltTable + " arch";
  }
#endif
  return "";
}

bool NeedsArch(const char* wanted, const Launch& launch, Reason* why) {
  if (why != nullptr) {
    *why = std::string("needs an architecture ") + wanted + "; this device is " + ArchName(launch);
  }
  return false;
}

bool NeedsFeature(const char* feature, Reason* why) {
  if (why != nullptr) *why = std::string("needs ") + feature + ", which this CPU lacks";
  return false;
}

void NoKernel(const Call& call, DLDevice device, const std::string& available,
              const std::string& reasons) {
  const std::string where = DeviceName(device);
  if (!reasons.empty())
    call.Throw("NotImplementedError", "no kernel takes this call on " + where + ": " + reasons);
  call.Throw("NotImplementedError", "no kernel for device " + where + ", available: " + available);
}

std::vector<KernelAnswer> AllAnswers(const Call& call, Op& op, const Launch& launch,
                                     const std::vector<KernelAnswer>& built_in) {
  std::vector<KernelAnswer> all = RegisteredAnswers(call, op, launch);
  all.insert(all.end(), built_in.begin(), built_in.end());
  return all;
}

void Refuse(const Call& call, Op& op, const Launch& launch, int forced,
            const std::vector<KernelAnswer>& built_in) {
  std::vector<std::string> reasons, available;
  bool some = false;
  for (const KernelAnswer& a : AllAnswers(call, op, launch, built_in)) {
    const int index = op.BuiltIn(a.name);
    if (index < 0 || op.kernels[index].built) {
      AddOnce(&available, DeviceKind(a.device));
      some = some || a.device == launch.device_type;
    }
    const bool meant = forced >= 0 ? index == KernelOf(forced) : a.device == launch.device_type;
    // One that takes the call was registered after it began.
    if (meant && !a.reason.empty()) reasons.push_back(a.name + ": " + a.reason);
  }
  const DLDevice device = {static_cast<DLDeviceType>(launch.device_type), launch.device_id};
  NoKernel(call, device, Join(available, ", "), some ? Join(reasons, "; ") : "");
}

}  // namespace opcast
