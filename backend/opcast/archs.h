// The architectures of GPUs for which a library has code.
#pragma once

#include <string_view>

namespace opcast {

// A list such as "80,90+PTX" or "gfx90a,gfx942", read by the compiler, so that a call only compares
// numbers.
class Archs {
 public:
  // More architectures than kMost do not compile.
  explicit constexpr Archs(std::string_view list) {
    while (!list.empty()) {
      const size_t end = list.find(',');
      codes_[count_++] = Code(list.substr(0, end));
      list = end == list.npos ? std::string_view() : list.substr(end + 1);
    }
  }

  // Whether some of the code runs on a device of this architecture, 90 for sm_90 and 0x90a for
  // gfx90a.
  constexpr bool RunOn(int arch) const {
    for (int i = 0; i < count_; ++i) {
      if (codes_[i].RunsOn(arch)) return true;
    }
    return false;
  }

 private:
  static constexpr int kMost = 32;

  struct Code {
    int arch = 0;
    bool bound = false;  // code for sm_90a or for any of AMD's GPUs runs on nothing else
    bool keeps = false;  // drivers compile PTX for later architectures

    constexpr Code() = default;
    explicit constexpr Code(std::string_view text) {
      if (text.substr(0, 3) == "gfx") {
        *this = Amd(text.substr(3));
        return;
      }
      while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
        arch = 10 * arch + (text[0] - '0');
        text.remove_prefix(1);
      }
      bound = !text.empty() && text[0] == 'a';
      keeps = text.find("+PTX") != text.npos;
    }

    // Hexadecimal digits, and perhaps features of the architecture behind a colon.
    static constexpr Code Amd(std::string_view digits) {
      Code code;
      code.bound = true;
      for (const char c : digits.substr(0, digits.find(':')))
        code.arch = 16 * code.arch + (c <= '9' ? c - '0' : c - 'a' + 10);
      return code;
    }

    // Without PTX, code runs on later devices of the same generation.
    constexpr bool RunsOn(int device) const {
      return arch == device || (!bound && arch <= device && (keeps || arch / 10 == device / 10));
    }
  };

  Code codes_[kMost];
  int count_ = 0;
};

}  // namespace opcast
