#include "opcast/ffi_list.h"

namespace opcast {
namespace {

std::string ElementName(const char* list, int i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

std::string Counted(int count) {
  return std::to_string(count) + (count == 1 ? " array" : " arrays");
}

}  // namespace

Lengths::Lengths(const char* op, const TVMFFIAny* args, int32_t count,
                 std::initializer_list<const char*> lists)
    : op_(op), names_(lists) {
  const auto needed = static_cast<int32_t>(lists.size());
  const Call call(op, args, count, count < needed ? needed : count);
  int i = 0;
  for (const char* name : lists) {
    const int64_t length = call.Int(i++, name);
    if (length < 1) {
      call.Expected("ValueError", name, "at least 1 array", std::to_string(length));
    }
    if (length > count) {
      call.Expected("ValueError", name, "a number of arrays that follow", std::to_string(length));
    }
    lengths_.push_back(static_cast<int>(length));
  }
}

void Lengths::Differ(int list, int first) const {
  const Call call(op_, nullptr, 0, 0);
  const std::string want = Counted((*this)[first]) + " (as " + Name(first) + ")";
  call.Expected("ValueError", Name(list), want, std::to_string((*this)[list]));
}

Tensors::Tensors(const Call& call, int first, int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    names_.push_back(ElementName(name, i));
    const char* element = names_.back().c_str();
    const DLTensor* t = AsTensor(call.args()[first + i]);
    if (t == nullptr) call.WrongType(first + i, element, "DLPack tensor");
    tensors_.emplace_back(call, element, t);
  }
}

bool Tensors::empty() const {
  for (const Tensor& t : tensors_) {
    if (!t.empty()) return false;
  }
  return true;
}

std::vector<void*> Tensors::data() const {
  std::vector<void*> out;
  for (const Tensor& t : tensors_) out.push_back(t.data());
  return out;
}

std::vector<int64_t> Tensors::batches(int trailing) const {
  std::vector<int64_t> out;
  for (const Tensor& t : tensors_) out.push_back(t.batch(trailing));
  return out;
}

void Apart(const Call& call, const Tensor& t, std::initializer_list<Group> others) {
  for (const Group& group : others) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (&group[i] != &t) call.Apart(t, {&group[i]});
    }
  }
}

void ApartFromEarlier(const Call& call, const Tensor& t, std::initializer_list<Group> others) {
  for (const Group& group : others) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (&group[i] == &t) return;
      call.Apart(t, {&group[i]});
    }
  }
}

void RequireList(const Call& call, int first, int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (!call.Given(first + i)) call.Missing(ElementName(name, i).c_str());
  }
}

}  // namespace opcast
