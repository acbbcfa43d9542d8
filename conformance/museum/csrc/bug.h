// Switches for bugs that happened in kernel libraries. The variable MUSEUM_BUG of the environment
// names the one that is on.
#pragma once

#include <cstdlib>
#include <cstring>

namespace museum {

inline bool On(const char* issue) {
  const char* name = std::getenv("MUSEUM_BUG");
  return name != nullptr && std::strcmp(name, issue) == 0;
}

}  // namespace museum

// Whether a bug is on: OWNER/REPOSITORY#NUMBER of the issue or fix on GitHub, and a sentence for
// docs/museum.md that says what was wrong.
#define BUG(issue, sentence)                  \
  ([] {                                       \
    static const bool on = museum::On(issue); \
    return on;                                \
  }())
