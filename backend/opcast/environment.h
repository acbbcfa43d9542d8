// How the environment variables of a library are named.
#pragma once

#include <cctype>
#include <string>

#include "opcast/build_id.h"

namespace opcast {

// "DEMO_KERNEL_ADD" for "KERNEL_add" in the collection demo.
inline std::string VariableName(const std::string& rest) {
  std::string name = CollectionName() + ("_" + rest);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace opcast
