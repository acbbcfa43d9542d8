// Allocating, checking and zeroing the work space of a call.
#include "opcast/registry_scratch.h"

#include <tvm/ffi/extra/c_env_api.h>

#include <cstring>
#include <new>

#if OPCAST_GPU
#include "opcast/gpu.h"
#endif

namespace opcast {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector

std::vector<int64_t> Shape(const Scratch& s) {
  std::vector<int64_t> shape(s.leading, s.leading + s.leading_rank);
  shape.insert(shape.end(), s.sizes, s.sizes + s.rank);
  return shape;
}

// Bytes of all elements; throws if there are more than memory can have.
int64_t Bytes(const Scratch& s) {
  int64_t bytes = (DataType(s.dtype).bits + 7) / 8;
  for (const int64_t n : Shape(s)) {
    if (__builtin_mul_overflow(bytes, n, &bytes)) throw std::bad_alloc();
  }
  return bytes;
}

void Zero(const Call& call, void* data, int64_t bytes, const Launch& launch) {
#if OPCAST_GPU
  if (launch.device_type == kGpu) {
    const Status status = gpu::Zero(data, static_cast<size_t>(bytes), launch.stream);
    if (!status.ok()) call.Throw("RuntimeError", status.text());
    return;
  }
#endif
  static_cast<void>(call), static_cast<void>(launch);
  std::memset(data, 0, static_cast<size_t>(bytes));
}

}  // namespace

void ScratchMemory::Take(const Call& call, const Scratch& s, const Launch& launch) {
  s.pointer.set(*s.given ? s.given->data() : Allocate(call, s, launch));
}

void ScratchMemory::Clear(const Call& call, const Scratch& s, const Launch& launch) {
  const bool empty = *s.given && s.given->empty();
  if (s.zeroed && !empty) Zero(call, s.pointer.get(), Bytes(s), launch);
}

void* ScratchMemory::Allocate(const Call& call, const Scratch& s, const Launch& launch) {
  std::vector<int64_t> shape = Shape(s);
  const bool ours = launch.device_type == kDLCPU;
  const Allocator* const theirs = call.allocator();
  if (!allocates_ ||
      (!ours && theirs == nullptr && TVMFFIEnvGetDLPackManagedTensorAllocator() == nullptr)) {
    call.Expected("ValueError", s.name,
                  std::string("a scratch array ") + DTypeName(s.dtype) +
                      List(shape.data(), static_cast<int>(shape.size())),
                  "None");
  }
  const DLDevice device = {static_cast<DLDeviceType>(launch.device_type), launch.device_id};
  if (!ours && theirs != nullptr) {  // who keeps it until the call ends
    DLTensor made = {
        nullptr, device, static_cast<int32_t>(shape.size()), DataType(s.dtype), shape.data(),
        nullptr, 0};
    if (!theirs->allocate(theirs->context, &made)) throw std::bad_alloc();
    return static_cast<char*>(made.data) + made.byte_offset;
  }
  owned_.push_back({});
  Block& block = owned_.back();
  if (ours) {
    block.host = ::operator new(static_cast<size_t>(Bytes(s)), kAlignment);
    return block.host;
  }
  DLTensor wanted = {
      nullptr, device, static_cast<int32_t>(shape.size()), DataType(s.dtype), shape.data(),
      nullptr, 0};
  if (TVMFFIEnvTensorAlloc(&wanted, &block.tensor) != 0) throw Raised();
  const auto* tensor = reinterpret_cast<const DLTensor*>(static_cast<const char*>(block.tensor) +
                                                         sizeof(TVMFFIObject));
  return static_cast<char*>(tensor->data) + tensor->byte_offset;
}

void ScratchMemory::Free() {
  for (const Block& block : owned_) {
    if (block.host != nullptr) ::operator delete(block.host, kAlignment);
    if (block.tensor != nullptr) TVMFFIObjectDecRef(block.tensor);
  }
}

void CheckWorkspace(const Call& call, const char* kernel, int64_t wanted, const Work& work) {
  int64_t declared = 0;
  for (int i = 0; i < work.count; ++i) declared += Bytes(work.scratch[i]);
  if (wanted <= declared) return;
  call.Throw("RuntimeError", std::string("kernel ") + kernel + " wants " + std::to_string(wanted) +
                                 " bytes of scratch, the definition declares " +
                                 std::to_string(declared));
}

std::vector<ScratchNeed> NeedsOf(const Work& work) {
  std::vector<ScratchNeed> needs;
  for (int i = 0; i < work.count; ++i) {
    const Scratch& s = work.scratch[i];
    needs.push_back({s.name, s.dtype, Shape(s)});
  }
  return needs;
}

}  // namespace opcast
