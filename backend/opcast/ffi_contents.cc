// What the elements of an input have to be: indices are looked at in every call on a CPU, all
// else with <NAME>_DEBUG=1 only.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "opcast/environment.h"
#include "opcast/registry.h"

namespace opcast {
namespace {

struct Element {
  Exact value;
  std::string text;
};

template <class T>
Element Read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_integral_v<T>) {
    return {value, std::to_string(value)};
  } else {
    return {static_cast<double>(value), Number(static_cast<double>(value))};
  }
}

// Reads an element; null for dtypes without an order, and for those that share bytes.
Element (*Reader(DType dtype))(const char*) {
  switch (dtype) {
    case DType::kU8:
      return Read<uint8_t>;
    case DType::kU16:
      return Read<uint16_t>;
    case DType::kU32:
      return Read<uint32_t>;
    case DType::kU64:
      return Read<uint64_t>;
    case DType::kI8:
      return Read<int8_t>;
    case DType::kI16:
      return Read<int16_t>;
    case DType::kI32:
      return Read<int32_t>;
    case DType::kI64:
      return Read<int64_t>;
    case DType::kF16:
      return Read<f16>;
    case DType::kBf16:
      return Read<bf16>;
    case DType::kF32:
      return Read<float>;
    case DType::kF64:
      return Read<double>;
    case DType::kF8e4m3fn:
      return Read<f8e4m3fn>;
    case DType::kF8e4m3fnuz:
      return Read<f8e4m3fnuz>;
    case DType::kF8e5m2:
      return Read<f8e5m2>;
    case DType::kF8e5m2fnuz:
      return Read<f8e5m2fnuz>;
    case DType::kF8e8m0fnu:
      return Read<f8e8m0fnu>;
    default:
      return nullptr;
  }
}

// The elements of an array in row-major order, in memory that the CPU can read.
class Elements {
 public:
  Elements(const Call& call, const Tensor& t)
      : t_(t),
        index_(t ? static_cast<size_t>(t.rank()) : 0),
        read_(t ? Reader(t.dtype()) : nullptr) {
    left_ = t.empty() || read_ == nullptr ? 0 : t.batch(0);
    if (left_ != 0) base_ = Base(call);
  }

  // The next element, false after the last one.
  bool Next(Element* element) {
    if (left_ == 0) return false;
    if (!first_) Step();
    first_ = false;
    --left_;
    int64_t offset = 0;
    for (int d = 0; d < t_.rank(); ++d) offset += index_[d] * t_.strides()[d];
    *element = read_(base_ + offset * static_cast<int64_t>(t_.item_size()));
    return true;
  }
  // Where it is: "[0, 3]".
  std::string At() const { return List(index_.data(), t_.rank()); }

 private:
  void Step() {
    for (int d = t_.rank() - 1; d >= 0; --d) {
      if (++index_[d] < t_.size(d)) return;
      index_[d] = 0;
    }
  }

  // The address of the first element, of a copy if the memory is that of a GPU.
  const char* Base(const Call& call) {
    const DLDevice device = t_.device();
    const auto* data = static_cast<const char*>(t_.data());
    if (device.device_type == kDLCPU) return data;
#if OPCAST_GPU
    if (device.device_type == kGpu) {
      int64_t low = 0, high = 0;
      for (int d = 0; d < t_.rank(); ++d) {
        const int64_t reach = (t_.size(d) - 1) * t_.strides()[d];
        (reach < 0 ? low : high) += reach;
      }
      const auto size = static_cast<int64_t>(t_.item_size());
      copy_.resize(static_cast<size_t>((high - low + 1) * size));
      const OnDevice on(call, {kGpu, device.device_id, nullptr});
      const Status status =
          gpu::Read(copy_.data(), data + low * size, copy_.size(), StreamOf(device));
      if (!status.ok()) call.Throw("RuntimeError", status.text());
      return copy_.data() - low * size;
    }
#endif
    static_cast<void>(call);
    left_ = 0;  // no kernel of this library reads it either
    return data;
  }

  const Tensor& t_;
  std::vector<int64_t> index_;
  Element (*read_)(const char*);
  int64_t left_ = 0;
  bool first_ = true;
  const char* base_ = nullptr;
  std::vector<char> copy_;
};

// Calls a function with the elements of a dense array of indices in the CPU's memory, whose loop
// is quick enough for every call. False for other arrays, which take the long way, as do those with
// an element that breaks a rule.
template <class Holds>
bool Quickly(const Tensor& t, const Holds& holds) {
  if (t.empty()) return true;
  if (!t.dense() || t.device().device_type != kDLCPU) return false;
  switch (t.dtype()) {
    case DType::kI32:
      return holds(t.data<const int32_t>(), t.batch(0));
    case DType::kI64:
      return holds(t.data<const int64_t>(), t.batch(0));
    default:
      return false;
  }
}

// "12 (T = 12 of kv)".
std::string Bound(const std::string& text, std::initializer_list<Why> why) {
  return why.size() == 0 ? text : text + " (" + Because(why) + ")";
}

}  // namespace

void Call::ValuesAtLeast(const Tensor& t, Exact bound, const std::string& text,
                         std::initializer_list<Why> why) const {
  const bool quick = Quickly(t, [&](auto* at, int64_t count) {
    auto least = *at;
    for (int64_t i = 0; i < count; ++i) least = at[i] < least ? at[i] : least;
    return bound <= least;
  });
  if (quick) return;
  Elements elements(*this, t);
  for (Element e; elements.Next(&e);) {
    if (bound <= e.value) continue;
    Expected("ValueError", t.name(), "values of at least " + Bound(text, why),
             e.text + " at " + elements.At());
  }
}

void Call::ValuesAtMost(const Tensor& t, Exact bound, const std::string& text,
                        std::initializer_list<Why> why) const {
  const bool quick = Quickly(t, [&](auto* at, int64_t count) {
    auto most = *at;
    for (int64_t i = 0; i < count; ++i) most = most < at[i] ? at[i] : most;
    return Exact(most) <= bound;
  });
  if (quick) return;
  Elements elements(*this, t);
  for (Element e; elements.Next(&e);) {
    if (e.value <= bound) continue;
    Expected("ValueError", t.name(), "values of at most " + Bound(text, why),
             e.text + " at " + elements.At());
  }
}

void Call::Ascending(const Tensor& t) const {
  const bool quick = Quickly(t, [](auto* at, int64_t count) {
    bool ascends = true;
    for (int64_t i = 1; i < count; ++i) ascends &= at[i - 1] <= at[i];
    return ascends;
  });
  if (quick) return;
  Elements elements(*this, t);
  Element before;
  bool first = true;
  for (Element e; elements.Next(&e); before = e) {
    if (!first && !(before.value <= e.value)) {
      Expected("ValueError", t.name(), "ascending values",
               e.text + " after " + before.text + " at " + elements.At());
    }
    first = false;
  }
}

bool Switch(const Call& call, const char* name, std::atomic<int>* mode) {
  const int known = mode->load(std::memory_order_relaxed);
  if (known != kUnreadSwitch) return known == 1;
  const std::string variable = VariableName(name);
  const char* value = std::getenv(variable.c_str());
  const std::string_view text = value == nullptr ? "" : value;
  if (text != "" && text != "0" && text != "1") {
    call.Expected("ValueError", variable.c_str(), "'0' or '1'", "'" + std::string(text) + "'");
  }
  mode->store(text == "1" ? 1 : 0, std::memory_order_relaxed);
  return text == "1";
}

bool Debugging(const Call& call) {
  static std::atomic<int> known{kUnreadSwitch};
  return Switch(call, "DEBUG", &known);
}

}  // namespace opcast
