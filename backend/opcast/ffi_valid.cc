// Rows that mean nothing: an output of which another one counts the rows that do. With
// <NAME>_ZERO_INVALID=1 they are zeros after each call, so that results can be compared.
#include <cstdlib>
#include <cstring>

#include "opcast/environment.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

// The only element of an array of int32 or int64.
int64_t Count(const Call& call, const Tensor& t) {
  int64_t wide = 0;
  int32_t narrow = 0;
  const bool is_wide = t.dtype() == DType::kI64;
  void* to = is_wide ? static_cast<void*>(&wide) : &narrow;
  const size_t bytes = is_wide ? sizeof wide : sizeof narrow;
  Status status = Status::Ok();
  if (t.device().device_type == kDLCPU) {
    std::memcpy(to, t.data(), bytes);
#if OPCAST_GPU
  } else if (t.device().device_type == kGpu) {
    const OnDevice on(call, {kGpu, t.device().device_id, nullptr});
    status = gpu::Read(to, t.data(), bytes, StreamOf(t.device()));
#endif
  }
  if (!status.ok()) call.Throw("RuntimeError", status.text());
  return is_wide ? wide : narrow;
}

void Zero(const Call& call, const Tensor& t, size_t begin, size_t bytes) {
  char* data = static_cast<char*>(t.data()) + begin;
  Status status = Status::Ok();
  if (t.device().device_type == kDLCPU) {
    std::memset(data, 0, bytes);
#if OPCAST_GPU
  } else if (t.device().device_type == kGpu) {
    const OnDevice on(call, {kGpu, t.device().device_id, nullptr});
    status = gpu::Zero(data, bytes, StreamOf(t.device()));
#endif
  }
  if (!status.ok()) call.Throw("RuntimeError", status.text());
}

}  // namespace

void Call::ZeroInvalid(const Tensor& t, const Tensor& count) const {
  if (t.empty()) return;
  const int64_t rows = t.size(0), valid = Count(*this, count);
  if (valid < 0 || valid > rows) return;  // a wrong count, of which those learn who compare it
  const auto row = static_cast<size_t>(t.batch(0) / rows) * t.item_size();
  Zero(*this, t, static_cast<size_t>(valid) * row, static_cast<size_t>(rows - valid) * row);
}

bool ZeroingInvalid(const Call& call) {
  static std::atomic<int> known{kUnreadSwitch};
  return Switch(call, "ZERO_INVALID", &known);
}

}  // namespace opcast
