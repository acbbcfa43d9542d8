#include "opcast/registry_json.h"

#include "opcast/registry.h"

namespace opcast {

JsonWriter& JsonWriter::Bracket(char bracket) {
  if (bracket == '[' || bracket == '{') Separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Text(name);
  text_ += ':';
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view text) {
  Separate();
  Quote(text);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t number) {
  Separate();
  text_ += std::to_string(number);
  return *this;
}

// Every value but the first after a bracket or a key follows a comma. The last character never is
// inside of a text, which ends with its quote.
void JsonWriter::Separate() {
  if (!text_.empty() && std::string_view("[{:").find(text_.back()) == std::string_view::npos)
    text_ += ',';
}

void JsonWriter::Quote(std::string_view text) {
  const char* digits = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ') {
      text_ += std::string("\\u00") + digits[code >> 4] + digits[code & 15];
      continue;
    }
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

std::string ToJson(const std::vector<std::string>& names) {
  JsonWriter json;
  json.Bracket('[');
  for (const std::string& name : names) json.Text(name);
  return json.Bracket(']').text();
}

std::string ToJson(const std::vector<KernelAnswer>& answers) {
  JsonWriter json;
  json.Bracket('[');
  for (const KernelAnswer& a : answers) {
    json.Bracket('{').Key("name").Text(a.name).Key("device").Text(DeviceKind(a.device));
    json.Key("reason").Text(a.reason);
    if (!a.params.empty()) json.Key("params").Text(a.params);
    json.Bracket('}');
  }
  return json.Bracket(']').text();
}

std::string ToJson(const std::vector<ScratchNeed>& needs) {
  JsonWriter json;
  json.Bracket('[');
  for (const ScratchNeed& n : needs) {
    const DLDataType dtype = DataType(n.dtype);
    json.Bracket('{').Key("name").Text(n.name).Key("dtype").Text(DTypeName(n.dtype));
    json.Key("code").Int(dtype.code).Key("bits").Int(dtype.bits).Key("shape").Bracket('[');
    for (const int64_t size : n.shape) json.Int(size);
    json.Bracket(']').Bracket('}');
  }
  return json.Bracket(']').text();
}

}  // namespace opcast
