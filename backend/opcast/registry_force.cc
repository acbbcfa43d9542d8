// Kernels by name, with the parameters that a name asks for, and which of them is forced.
#include <algorithm>
#include <cstdlib>

#include "opcast/environment.h"
#include "opcast/registry.h"
#include "opcast/tuned.h"

namespace opcast {
namespace {

// What the parameters of a kernel can be: "[rows=64|128,step=1|2]".
std::string Values(const KernelInfo& kernel) {
  std::string text;
  for (const Param& p : kernel.params) {
    text += (text.empty() ? "[" : ",") + std::string(p.name) + "=";
    for (const int64_t& value : p.values)
      text += (&value == p.values.begin() ? "" : "|") + std::to_string(value);
  }
  return text.empty() ? text : text + "]";
}

// Sets the place of a value in the list of a parameter, from "rows=64"; false if there is no such.
bool Place(const KernelInfo& kernel, std::string_view text, std::vector<int>* places) {
  for (int i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    for (int k = 0; k < p.values.size(); ++k) {
      if (text != std::string(p.name) + "=" + std::to_string(p.values[k])) continue;
      int& place = (*places)[static_cast<size_t>(i)];
      if (place >= 0) return false;  // named twice
      place = k;
      return true;
    }
  }
  return false;
}

// The number of the choice that "rows=64,step=2" asks for, or -1.
int ChoiceNamed(const KernelInfo& kernel, std::string_view text) {
  std::vector<int> places(static_cast<size_t>(kernel.params.size()), -1);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (!Place(kernel, text.substr(at, end - at), &places)) return -1;
    at = end + 1;
  }
  int choice = 0;
  for (int i = 0; i < kernel.params.size(); ++i)
    choice = choice * kernel.params[i].values.size() + std::max(places[static_cast<size_t>(i)], 0);
  return choice;
}

}  // namespace

int Op::BuiltIn(std::string_view kernel) const {
  for (int i = 0; i < kernels.size(); ++i) {
    if (kernel == kernels[i].name) return i;
  }
  return -1;
}

int Op::Number(std::string_view kernel) const {
  const size_t bracket = kernel.find('[');
  const int index = BuiltIn(kernel.substr(0, bracket));
  if (index < 0 || bracket == kernel.npos) return index;
  if (kernel.back() != ']') return -1;
  const std::string_view text = kernel.substr(bracket + 1, kernel.size() - bracket - 2);
  const int choice = ChoiceNamed(kernels[index], text);
  return choice < 0 ? -1 : index + kMostKernels * (choice + 1);
}

std::string ParamsText(const KernelInfo& kernel, int choice) {
  std::string text;
  for (int i = 0; i < kernel.params.size(); ++i)
    text += (i == 0 ? "[" : ",") + std::string(kernel.params[i].name) + "=" +
            std::to_string(ValueIn(kernel.params, choice, i));
  return text.empty() ? text : text + "]";
}

std::vector<std::string> Op::KernelNames() const {
  std::vector<std::string> names;
  for (const Registration& r : Registrations(*this)) names.push_back(r.name);
  for (int i = 0; i < kernels.size(); ++i) names.emplace_back(kernels[i].name);
  return names;
}

void Op::UseNumber(const std::string& kernel, const std::function<void(int)>& use) const {
  const int number = Number(kernel);
  if (number >= 0) return use(number);
  if (UseRegistered(*this, kernel, use)) return;
  std::vector<std::string> names;
  for (const Registration& r : Registrations(*this)) names.push_back(r.name);
  for (int i = 0; i < kernels.size(); ++i) names.push_back(kernels[i].name + Values(kernels[i]));
  throw Fault{"ValueError",
              std::string(name) + ": no kernel '" + kernel + "', available: " + Join(names, ",")};
}

int Op::ReadForced() {
  const std::string variable = VariableName(std::string("KERNEL_") + name);
  const char* value = std::getenv(variable.c_str());
  int forced = kUnread;
  const auto keep = [&](int number) {
    if (forced_.compare_exchange_strong(forced, number)) forced = number;  // else a Force was first
  };
  if (value == nullptr || *value == '\0')
    keep(kFree);
  else
    UseNumber(value, keep);
  return forced;
}

void Op::Force(const std::string& kernel) {
  const auto store = [&](int number) { forced_.store(number, std::memory_order_release); };
  if (kernel.empty())
    store(kUnread);
  else
    UseNumber(kernel, store);
}

void Op::Unforce(int id) { forced_.compare_exchange_strong(id, kUnread); }

}  // namespace opcast
