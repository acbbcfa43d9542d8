// Forcing of kernels, what makes a kernel fit a device, and what is said when none does.
#include "opcast/registry.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cctype>
#include <cstdlib>
#include <cstring>

#ifndef OPCAST_COLLECTION
#error "define OPCAST_COLLECTION as the name of the collection"
#endif
#if OPCAST_CUDA && !defined(OPCAST_CUDA_ARCHS)
#error "define OPCAST_CUDA_ARCHS as the architectures that were compiled, such as 80,90+PTX"
#endif

namespace opcast {
namespace {

std::string Upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

void Append(std::string* list, const std::string& item) {
  if ((", " + *list + ",").find(", " + item + ",") != std::string::npos) return;
  *list += (list->empty() ? "" : ", ") + item;
}

}  // namespace

int Op::AttrCount() const {
  int count = 0;
  for (const AttrInfo& a : attrs) count += a.type != AttrType::kDType;
  return count;
}

bool Op::HasBuiltIn(std::string_view kernel) const {
  for (const KernelInfo& k : kernels) {
    if (kernel == k.name) return true;
  }
  return false;
}

int Op::IndexOf(const std::string& kernel) const {
  std::string names = RegisteredNames(*this);
  for (int i = 0; i < kernels.size(); ++i) {
    if (kernel == kernels[i].name) return i;
    names += std::string(names.empty() ? "" : ",") + kernels[i].name;
  }
  const int id = RegisteredId(*this, kernel);
  if (id >= 0) return id;
  throw Fault{"ValueError",
              std::string(name) + ": no kernel '" + kernel + "', available: " + names};
}

int Op::ReadForced() {
  const std::string variable = Upper(std::string(OPCAST_COLLECTION) + "_KERNEL_" + name);
  const char* value = std::getenv(variable.c_str());
  const int read = value == nullptr || *value == '\0' ? kFree : IndexOf(value);
  int before = kUnread;
  return forced_.compare_exchange_strong(before, read) ? read
                                                       : before;  // else a Force came between
}

void Op::Force(const std::string& kernel) {
  forced_.store(kernel.empty() ? kUnread : IndexOf(kernel), std::memory_order_relaxed);
}

void Op::Unforce(int id) { forced_.compare_exchange_strong(id, kUnread); }

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

std::string BuiltDevices(int more) {
  std::string names;
  for (const int device : {kDLCPU, kDLCUDA, kDLROCM}) {
    bool there = device == more;
    for (int i = 0; i < kOpCount; ++i) {
      for (const KernelInfo& k : kOps[i]->kernels) there = there || (k.built && k.device == device);
    }
    if (there) names += (names.empty() ? "" : ",") + DeviceKind(device);
  }
  return names;
}

void* StreamOf(DLDevice device) { return TVMFFIEnvGetStream(device.device_type, device.device_id); }

std::string ReadArch([[maybe_unused]] Launch* launch) {
#if OPCAST_CUDA
  if (launch->device_type == kDLCUDA) {
    const gpu::Arch found = gpu::ArchOf(launch->device_id);
    launch->arch = found.arch;
    if (!found.error.empty()) {
      return DeviceName({kDLCUDA, launch->device_id}) + " cannot be used: " + found.error;
    }
  }
#endif
  return "";
}

void PrepareGpu(const Call& call, Launch* launch) {
  const std::string broken = ReadArch(launch);
  if (!broken.empty()) call.Throw("RuntimeError", broken);
}

bool BuiltFor([[maybe_unused]] const Launch& launch) {
#if OPCAST_CUDA
  return RunsOn(OPCAST_CUDA_ARCHS, launch.arch);
#else
  return true;
#endif
}

bool RunsOn(const char* built, int arch) {
  for (const char* p = built; *p != '\0'; p += *p == ',') {
    char* end = nullptr;
    const int code = static_cast<int>(std::strtol(p, &end, 10));
    const bool bound = *end == 'a';  // code for sm_90a runs on nothing else
    p = end + std::strcspn(end, ",");
    const bool keeps = std::string_view(end, p - end).find("+PTX") != std::string_view::npos;
    if (code == arch || (!bound && code <= arch && (keeps || code / 10 == arch / 10))) return true;
  }
  return false;
}

Reason Unfit(int device, bool built, const Launch& launch) {
  if (device != launch.device_type) return "is for " + DeviceKind(device);
  if (!built)
    return "not built into this library: run opcast build --device " + BuiltDevices(device);
#if OPCAST_CUDA
  if (launch.arch != 0 && !BuiltFor(launch)) {
    std::string built_for;
    for (const char c : std::string(OPCAST_CUDA_ARCHS))
      built_for += c == ',' ? ", sm_" : std::string(1, c);
    return "built for sm_" + built_for + "; this device is sm_" + std::to_string(launch.arch) +
           ": add it to [cuda] arch";
  }
#endif
  return "";
}

Reason NeedsArch(const char* wanted, const Launch& launch) {
  return std::string("needs an architecture ") + wanted + "; this device is sm_" +
         std::to_string(launch.arch);
}

void NoKernel(const Call& call, DLDevice device, const std::string& available,
              const std::string& reasons) {
  const std::string where = DeviceName(device);
  if (!reasons.empty())
    call.Throw("NotImplementedError", "no kernel takes this call on " + where + ": " + reasons);
  call.Throw("NotImplementedError", "no kernel for device " + where + ", available: " + available);
}

void Refuse(const Call& call, Op& op, const Launch& launch, int forced,
            const std::vector<Row>& rows) {
  std::vector<Row> all = RegisteredRows(call, op, launch);
  all.insert(all.end(), rows.begin(), rows.end());
  std::string reasons, available;
  bool some = false;
  for (const Row& r : all) {
    const bool built_in = op.HasBuiltIn(r.name);
    const int index = built_in ? op.IndexOf(r.name) : RegisteredId(op, r.name);
    if (!built_in || op.kernels[index].built) {
      Append(&available, DeviceKind(r.device));
      some = some || r.device == launch.device_type;
    }
    const bool meant = forced >= 0 ? index == forced : r.device == launch.device_type;
    if (meant) reasons += (reasons.empty() ? "" : "; ") + r.name + ": " + r.reason;
  }
  const DLDevice device = {static_cast<DLDeviceType>(launch.device_type), launch.device_id};
  NoKernel(call, device, available, some ? reasons : "");
}

void Explain(const Call& call, Op& op, const Launch& launch, const std::vector<Row>& rows,
             Request* request) {
  std::vector<Row> all = RegisteredRows(call, op, launch);
  all.insert(all.end(), rows.begin(), rows.end());
  for (const Row& r : all) {
    request->text +=
        r.name + "\t" + DeviceKind(r.device) + "\t" + (r.reason.empty() ? "yes" : r.reason) + "\n";
  }
}

}  // namespace opcast
