// What the library says about itself, as JSON: Go, Python and JavaScript read it with what they
// have. Callers in C++ get the structs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opcast/op.h"

namespace opcast {

// Writes JSON on one line. Values and keys follow each other as they are called for; the commas
// between them are set here.
class JsonWriter {
 public:
  // '[', ']', '{' or '}'.
  JsonWriter& Bracket(char bracket);
  JsonWriter& Key(std::string_view name);
  JsonWriter& Text(std::string_view text);
  JsonWriter& Int(int64_t number);

  const std::string& text() const { return text_; }

 private:
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
};

// ["a", "b"]
std::string ToJson(const std::vector<std::string>& names);

// [{"name": "fast", "device": "cpu", "reason": ""}]: no reason means that the kernel takes the
// call. One with parameters also says which it would get: "params": "[rows=64]".
std::string ToJson(const std::vector<KernelAnswer>& answers);

// [{"name": "part", "dtype": "float32", "code": 2, "bits": 32, "shape": [2, 4]}]: code and bits are
// DLPack's.
std::string ToJson(const std::vector<ScratchNeed>& needs);

}  // namespace opcast
