// A recorded call, as `opcast run` writes it: one word list per line, the arguments in the order of
// the op's export.
//
//   tvm_ffi PATH       the tvm-ffi library         device TYPE ID   DLPack's numbers
//   library PATH       the collection              repeat N         timed calls; 0: none
//   op NAME            the export                  kernel NAME      the only one that may run
//   data PATH          bytes of the inputs         results PATH     where the bytes of the results
//   guards 0 | 1       1: memory around the arrays is watched
//   hollow 0 | 1       1: arrays have no contents, and nothing is read back
//   array NAME ROLE CODE BITS [SIZE...]            ROLE: in, inout, out, scratch
//   none | int N | bool N | float X | str HEX | ints [N...]
#pragma once

#include <tvm/ffi/c_api.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace runner {

struct Array {
  std::string name, role;
  DLDataType dtype;
  std::vector<int64_t> shape;

  bool read() const { return role == "in" || role == "inout"; }
  bool written() const { return role == "out" || role == "inout"; }
  size_t bytes() const {
    size_t n = (dtype.bits + 7u) / 8u;
    for (int64_t size : shape) n *= static_cast<size_t>(size);
    return n;
  }
};

// An argument that is no array holds its value in `value`, or its list in `ints`.
struct Argument {
  std::string kind;
  Array array;
  TVMFFIAny value = {};
  std::string text;
  std::vector<int64_t> ints;
};

struct Case {
  std::string tvm_ffi, library, op, kernel, data, results;
  int repeat = 0;
  bool guards = false, hollow = false;
  DLDevice device = {kDLCPU, 0};
  std::vector<Argument> arguments;
};

// Text travels as hexadecimal digits, so that a line stays a list of words.
inline std::string FromHex(const std::string& digits) {
  std::string text;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    text += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return text;
}

inline std::vector<int64_t> Rest(std::istream& words) {
  std::vector<int64_t> list;
  for (int64_t n = 0; words >> n;) list.push_back(n);
  return list;
}

inline Argument ReadArgument(const std::string& kind, std::istream& words) {
  Argument a;
  a.kind = kind;
  if (kind == "array") {
    int code = 0, bits = 0;
    words >> a.array.name >> a.array.role >> code >> bits;
    a.array.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
    a.array.shape = Rest(words);
  } else if (kind == "int" || kind == "bool") {
    a.value.type_index = kind == "int" ? kTVMFFIInt : kTVMFFIBool;
    words >> a.value.v_int64;
  } else if (kind == "float") {
    std::string number;
    words >> number;
    a.value.type_index = kTVMFFIFloat;
    a.value.v_float64 = std::stod(number);  // unlike a stream it reads inf and nan
  } else if (kind == "str") {
    std::string digits;
    words >> digits;
    a.text = FromHex(digits);
  } else if (kind == "ints") {
    a.ints = Rest(words);
  } else if (kind != "none") {
    throw std::runtime_error("unknown line '" + kind + "' in the case");
  }
  return a;
}

inline void ReadLine(const std::string& line, Case* c) {
  std::istringstream words(line);
  std::string key;
  words >> key >> std::ws;
  for (auto [name, member] : {std::pair<const char*, std::string*>{"tvm_ffi", &c->tvm_ffi},
                              {"library", &c->library},
                              {"op", &c->op},
                              {"kernel", &c->kernel},
                              {"data", &c->data},
                              {"results", &c->results}}) {
    if (key == name) {
      std::getline(words, *member);  // a path may hold spaces
      return;
    }
  }
  if (key == "repeat") {
    words >> c->repeat;
  } else if (key == "guards") {
    words >> c->guards;
  } else if (key == "hollow") {
    words >> c->hollow;
  } else if (key == "device") {
    int type = 0;
    words >> type >> c->device.device_id;
    c->device.device_type = static_cast<DLDeviceType>(type);
  } else {
    c->arguments.push_back(ReadArgument(key, words));
  }
}

inline Case ReadCase(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read the case ") + path);
  Case c;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) ReadLine(line, &c);
  }
  return c;
}

}  // namespace runner
