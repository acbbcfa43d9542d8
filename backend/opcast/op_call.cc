// op_call: any op by its number or name, with arrays by role and attrs by name.
//
//     _opcast_op_call(kind, inputs, outputs, scratch,   how many there are of each
//                     arrays..., name, value, name, value, ...)
//
// The arrays of a list stand one by one, and the list's name has their number as its value. The
// call is laid out as the op's export wants it and runs as that: same checks, same texts, same
// dispatch. What is left out at the end of a role is None, an attr that is left out has its
// default, and scratch that is left out is allocated.
#include <algorithm>
#include <string>
#include <vector>

#include "opcast/ffi_owned.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

constexpr int kHead = 4;  // the kind and three counts

bool IsText(const TVMFFIAny& v) {
  return v.type_index == kTVMFFIRawStr || v.type_index == kTVMFFISmallStr ||
         v.type_index == kTVMFFIStr || v.type_index == kTVMFFIByteArrayPtr;
}

Op& OpOf(const Call& call) {
  const TVMFFIAny& kind = call.args()[0];
  const bool number = kind.type_index == kTVMFFIInt;
  if (!number && !IsText(kind)) call.WrongType(0, "kind", "the number or name of an op");
  const std::string name = number ? "" : std::string(call.Str(0, "kind"));
  Op* const op = number ? FindOp(kind.v_int64) : FindOp(name);
  if (op != nullptr) return *op;
  call.Expected("ValueError", "kind", "the number or name of an op",
                number ? std::to_string(kind.v_int64) : "'" + name + "'");
}

DType DTypeOf(DLDataType t) {
  return t.lanes == 1 ? static_cast<DType>(t.code << 8 | t.bits) : kNoDType;
}

// The dtype that a dtype attr has been given: a string, or a value of tvm-ffi's own.
DType ReadDType(const Call& call, int index, const Attr& attr) {
  const TVMFFIAny& v = call.args()[index];
  DType dtype = kNoDType;
  if (v.type_index == kTVMFFIDataType) dtype = DTypeOf(v.v_dtype);
  if (IsText(v)) dtype = DTypeNamed(call.Str(index, attr.name));
  std::string words;
  for (int i = 0; i < attr.dtypes.size(); ++i) {
    if (attr.dtypes[i] == dtype) return dtype;
    const bool last = i + 1 == attr.dtypes.size();
    words += std::string(i == 0 ? "dtype " : last ? " or " : ", ") + DTypeName(attr.dtypes[i]);
  }
  if (dtype == kNoDType) call.WrongType(index, attr.name, words.c_str());
  call.Expected("TypeError", attr.name, words, DTypeName(dtype));
}

// What stands for an attr that is not given. A list of integers is an array of them, which
// `storage` has to keep.
struct IntArray {
  int64_t length;
  DLTensor tensor;
};
TVMFFIAny Default(const Call& call, const Attr& attr, IntArray* storage) {
  TVMFFIAny value = {};
  if (attr.otherwise == Attr::Otherwise::kMissing)
    call.Throw("TypeError", std::string("missing required argument '") + attr.name + "'");
  if (attr.otherwise == Attr::Otherwise::kNone) return value;
  if (attr.list.begin() != nullptr) {
    auto* data = const_cast<int64_t*>(attr.list.begin());
    storage->length = attr.list.size();
    storage->tensor = {data, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, &storage->length, nullptr, 0};
    value.type_index = kTVMFFIDLTensorPtr;
    value.v_ptr = &storage->tensor;
  } else if (attr.type == AttrType::kFloat) {
    value.type_index = kTVMFFIFloat;
    value.v_float64 = attr.number;
  } else if (attr.type == AttrType::kStr) {
    value.type_index = kTVMFFIRawStr;
    value.v_c_str = attr.text;
  } else {
    value.type_index = attr.type == AttrType::kBool ? kTVMFFIBool : kTVMFFIInt;
    value.v_int64 = attr.integer;
  }
  return value;
}

// The call of an op's export that a call of op_call stands for.
class Arranged {
 public:
  Arranged(const Op& op, const TVMFFIAny* args, int32_t count)
      : op_(op), call_(op.name, args, count, count), count_(count), storage_(op.attrs.size()) {}

  // Reads the lengths of lists, whose names are among those that stand from `at` on.
  void Lists(int at) {
    const int lists = op_.ListCount();
    list_.assign(static_cast<size_t>(lists), IntValue(0));
    for (; at + 1 < count_; at += 2) {
      const int list = ListNamed(std::string(call_.Str(at, "attrs")));
      if (list < 0) continue;
      const int64_t length = call_.Int(at + 1, op_.ListName(list));
      if (length > count_) {
        call_.Expected("ValueError", op_.ListName(list), "a number of arrays that follow",
                       std::to_string(length));
      }
      list_[static_cast<size_t>(list)].v_int64 = std::max<int64_t>(length, 0);
    }
    for (const Array& a : op_.arrays) {
      const bool written = a.role == Role::kOutput || a.role == Role::kSaved;
      if (written) outputs_ += Op::Repeats(a, list_.data());
    }
    arrays_ = op_.ArrayCount(list_.data());
    list_.resize(lists + arrays_ + op_.AttrCount() + op_.scratch.size());
  }

  // Reads the arrays, of which there are so many of each role.
  void Arrays(int64_t inputs, int64_t outputs, int64_t scratch) {
    const int lists = op_.ListCount();
    Take("inputs", inputs, lists + outputs_, arrays_ - outputs_);
    Take("outputs", outputs, lists, outputs_);
    Take("scratch", scratch, lists + arrays_ + op_.AttrCount(), op_.scratch.size());
  }

  // Reads the names and values that follow.
  void Attrs() {
    std::vector<int> given(op_.attrs.size(), -1);  // where the value of each attr is
    for (; next_ < count_; next_ += 2) {
      const std::string name(call_.Str(next_, "attrs"));
      if (next_ + 1 == count_)
        call_.Expected("TypeError", "attrs", "a value for every name", "none for '" + name + "'");
      if (ListNamed(name) >= 0) continue;
      int& place = given[IndexOf(name)];
      if (place >= 0) call_.Expected("TypeError", name.c_str(), "one value", "two");
      place = next_ + 1;
    }
    int slot = op_.ListCount() + arrays_;
    for (int i = 0; i < op_.attrs.size(); ++i) {
      const Attr& attr = op_.attrs[i];
      if (attr.type == AttrType::kDType) {
        if (given[i] >= 0 && call_.Given(given[i])) Carry(attr, ReadDType(call_, given[i], attr));
      } else {
        list_[slot++] = given[i] < 0 ? Default(call_, attr, &storage_[i]) : call_.args()[given[i]];
      }
    }
  }

  void Run() const {
    if (carrier_ != nullptr) {
      Do(Request::Task::kExplain);  // other faults come first
      call_.DTypeAs(Tensor(call_, wanted_->carrier, carrier_), dtype_, wanted_->name);
    }
    Do(Request::Task::kLaunch);
  }

 private:
  // Puts the next `given` arrays into the `room` places from `slot` on.
  void Take(const char* role, int64_t given, int slot, int room) {
    if (given > room) {
      std::string most = "at most " + std::to_string(room) + (room == 1 ? " array" : " arrays");
      call_.Expected("TypeError", role, room == 0 ? "none" : most, std::to_string(given));
    }
    for (int i = 0; i < given; ++i) list_[slot + i] = call_.args()[next_++];
  }

  // Which list is called so, or -1.
  int ListNamed(const std::string& name) const {
    for (int i = 0; i < op_.ListCount(); ++i) {
      if (name == op_.ListName(i)) return i;
    }
    return -1;
  }

  int IndexOf(const std::string& name) const {
    std::string known;
    for (int i = 0; i < op_.attrs.size(); ++i) {
      if (name == op_.attrs[i].name) return i;
      known += std::string(i == 0 ? "one of '" : "', '") + op_.attrs[i].name;
    }
    call_.Expected("TypeError", "attrs", known.empty() ? "none" : known + "'", "'" + name + "'");
  }

  // A dtype attr has no place in the export: the output that it is about has to have that dtype.
  void Carry(const Attr& attr, DType dtype) {
    int i = op_.ListCount() - 1;
    for (const Array& array : op_.arrays) {
      i += Op::Repeats(array, list_.data());  // the last of its arrays, as good as any
      const DLTensor* t = AsTensor(list_[i]);
      if (t == nullptr || std::string_view(array.name) != attr.carrier) continue;
      if (DTypeOf(t->dtype) == dtype) continue;
      carrier_ = t;
      wanted_ = &attr;
      dtype_ = dtype;
    }
  }

  void Do(Request::Task task) const {
    Request request{task};
    if (Export(op_, list_.data(), static_cast<int32_t>(list_.size()), &request) != 0)
      throw Raised();
  }

  const Op& op_;
  const Call call_;
  const int32_t count_;
  int outputs_ = 0;  // arrays, those of lists one by one
  int arrays_ = 0;   // these and the inputs
  int next_ = kHead;
  std::vector<TVMFFIAny> list_;    // the arguments of the export
  std::vector<IntArray> storage_;  // what its lists of integers point to
  // The output whose dtype is not that of a dtype attr, if there is one.
  const DLTensor* carrier_ = nullptr;
  const Attr* wanted_ = nullptr;
  DType dtype_ = kNoDType;
};

void OpCall(const TVMFFIAny* args, int32_t count, TVMFFIAny*) {
  const Call call("op_call", args, count, std::max(count, kHead));
  const Op& op = OpOf(call);
  const char* const roles[] = {"inputs", "outputs", "scratch"};
  int64_t counts[3], rest = count - kHead;
  for (int i = 0; i < 3; ++i) {
    counts[i] = call.Int(1 + i, roles[i]);
    if (counts[i] < 0 || counts[i] > rest) {
      call.Expected("ValueError", roles[i], "a number of arrays that follow",
                    std::to_string(counts[i]));
    }
    rest -= counts[i];
  }
  Arranged arranged(op, args, count);
  arranged.Lists(static_cast<int>(count - rest));
  arranged.Arrays(counts[0], counts[1], counts[2]);
  arranged.Attrs();
  arranged.Run();
}

}  // namespace
}  // namespace opcast

OPCAST_META(op_call, OpCall)
