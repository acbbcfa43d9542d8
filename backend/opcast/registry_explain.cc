// The exports that say what would happen to a call, without making it.
#include <algorithm>
#include <memory>
#include <vector>

#include "opcast/ffi_owned.h"
#include "opcast/registry.h"
#include "opcast/registry_json.h"

namespace opcast {
namespace {

// Asks an op about a call of its export.
Request Ask(const Op& op, Request::Task task, const TVMFFIAny* args, int32_t count) {
  Request request{task};
  op.body(args, count, &request);
  return request;
}

// The op that the first of at least so many arguments names.
const Op& OpOf(const char* name, const TVMFFIAny* args, int32_t count, int32_t least) {
  const Call call(name, args, count, std::max(count, least));
  return FindOp(call, call.Str(0, "op"));
}

// _opcast_explain(op, arguments of its export...) -> what each kernel says, in JSON
void ExplainCall(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Op& op = OpOf("_opcast_explain", args, count, 1);
  const Request answer = Ask(op, Request::Task::kExplain, args + 1, count - 1);
  *result = StringValue(ToJson(answer.kernels)).Release();
}

// _opcast_scratch(op, arguments of its export...) -> the scratch that the call needs, in JSON
void ScratchOf(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  const Op& op = OpOf("_opcast_scratch", args, count, 1);
  const Request answer = Ask(op, Request::Task::kScratch, args + 1, count - 1);
  *result = StringValue(ToJson(answer.scratch)).Release();
}

// Dense tensors without memory. Each has addresses of its own, as aligned as those of allocators,
// which are of no use but to be compared.
class Hollow {
 public:
  explicit Hollow(DLDevice device) : device_(device) {}

  // A tensor of the shape and dtype that two arguments of a call are; None if they are None.
  TVMFFIAny Tensor(const Call& call, int index, const char* name) {
    TVMFFIAny value = {};
    if (!call.Given(index)) return value;
    const int64_t rank = AsInts(call.args()[index]).count;
    if (rank < 0) call.WrongType(index, name, "a shape");
    const std::string word(call.Str(index + 1, name));
    const DType dtype = DTypeNamed(word);
    if (dtype == kNoDType) call.Expected("ValueError", name, "the name of a dtype", Quoted(word));
    tensors_.push_back(std::make_unique<Described>());
    Described& d = *tensors_.back();
    d.shape.resize(static_cast<size_t>(rank));
    d.strides.assign(static_cast<size_t>(rank), 1);
    call.Ints(index, name, static_cast<int>(rank), d.shape.data());
    d.tensor = {Nowhere(d.Lay(DataType(dtype).bits)),
                device_,
                static_cast<int32_t>(rank),
                DataType(dtype),
                d.shape.data(),
                d.strides.data(),
                0};
    value.type_index = kTVMFFIDLTensorPtr;
    value.v_ptr = &d.tensor;
    return value;
  }

 private:
  struct Described {
    DLTensor tensor;
    std::vector<int64_t> shape, strides;

    // Fills in the strides and returns the number of bytes; the rules refuse what is too large.
    uint64_t Lay(uint64_t bits) {
      for (size_t d = shape.size(); d-- > 0;) {
        if (d > 0) __builtin_mul_overflow(strides[d], shape[d], &strides[d - 1]);
        if (__builtin_mul_overflow(bits, static_cast<uint64_t>(shape[d]), &bits)) bits = UINT64_MAX;
      }
      return bits / 8;
    }
  };

  void* Nowhere(uint64_t bytes) {
    constexpr uint64_t kPage = 4096, kMost = uint64_t{1} << 47;
    void* const at = reinterpret_cast<void*>(next_);
    next_ += (bytes < kMost ? bytes : kMost) / kPage * kPage + kPage;
    return at;
  }

  const DLDevice device_;
  uint64_t next_ = uint64_t{1} << 48;
  std::vector<std::unique_ptr<Described>> tensors_;
};

// _opcast_explain_shapes(op, device type, device id, arguments...) -> what each kernel says, in
// JSON
//
// The arguments are those of the op's export, but every array is two of them: its shape and the
// name of its dtype, or None and None.
void ExplainShapes(const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  constexpr int kHead = 3;
  const char* const name = "_opcast_explain_shapes";
  const Op& op = OpOf(name, args, count, kHead);
  const int lists = op.ListCount();
  const Call head(name, args, count, std::max(count, kHead + lists));
  for (int i = 0; i < lists; ++i) {  // how many arrays follow
    const int64_t length = head.Int(kHead + i, "the length of a list");
    if (length < 1 || length > count) {
      head.Expected("ValueError", "the length of a list", "a number of arrays that follow",
                    std::to_string(length));
    }
  }
  const int arrays = op.ArrayCount(args + kHead) + op.scratch.size();
  const Call call(name, args, count, kHead + lists + 2 * arrays + op.AttrCount());
  const int64_t type = call.Int(1, "device_type"), number = call.Int(2, "device_id");
  CheckDevice(call, "device_type", type, "device_id", number);
  Hollow hollow({static_cast<DLDeviceType>(type), static_cast<int32_t>(number)});
  std::vector<TVMFFIAny> list(args + kHead, args + kHead + lists);
  int next = kHead + lists;
  const auto add = [&](const Array& array) {
    list.push_back(hollow.Tensor(call, next, array.name));
    next += 2;
  };
  for (const Array& a : op.arrays) {
    for (int i = 0; i < Op::Repeats(a, args + kHead); ++i) add(a);
  }
  for (int i = 0; i < op.AttrCount(); ++i) list.push_back(args[next++]);
  for (const Array& a : op.scratch) add(a);
  const Request answer =
      Ask(op, Request::Task::kExplain, list.data(), static_cast<int32_t>(list.size()));
  *result = StringValue(ToJson(answer.kernels)).Release();
}

}  // namespace
}  // namespace opcast

OPCAST_META(explain, ExplainCall)
OPCAST_META(explain_shapes, ExplainShapes)
OPCAST_META(scratch, ScratchOf)
