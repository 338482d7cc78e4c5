#include "formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/json_reader.h"
#include "formats/bytes.h"
#include "formats/protobuf.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t length_bytes = 8, safetensor_axes_max = 64;

[[noreturn]] void refuse_head(std::string_view name, std::string_view what) {
  throw Error(FailureKind::invalid, fmt::format("cannot read {}: {}", printable(name, 4096), what),
              "the file is damaged, or no safetensors file");
}

std::optional<std::uint64_t> bits_of(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::uint64_t> table[] = {
      {"F64", 64},    {"I64", 64},    {"U64", 64},    {"C64", 64}, {"F32", 32},    {"I32", 32},   {"U32", 32},
      {"F16", 16},    {"BF16", 16},   {"I16", 16},    {"U16", 16}, {"I8", 8},      {"U8", 8},     {"BOOL", 8},
      {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}};
  const auto found = std::ranges::find(table, dtype, &std::pair<std::string_view, std::uint64_t>::first);
  return found == std::end(table) ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint64_t> numbers_of(const JsonValue& value, std::string_view name, std::string_view what) {
  const auto* items = value.get<JsonValue::Array>();
  if (items == nullptr || items->size() > safetensor_axes_max) refuse_head(name, fmt::format("{} is no list", what));
  std::vector<std::uint64_t> numbers;
  for (const JsonValue& item : *items) {
    const auto* number = item.get<std::uint64_t>();
    if (number == nullptr) refuse_head(name, fmt::format("{} has what is no whole number", what));
    numbers.push_back(*number);
  }
  return numbers;
}

SafeTensor tensor_of(const JsonMember& member, std::string_view name) {
  SafeTensor tensor;
  tensor.name = member.key;
  const std::string label = fmt::format("tensor {}", printable(member.key));
  JsonObject object(member.value, name, label);
  tensor.dtype = object.text("dtype");
  tensor.shape = numbers_of(object.require("shape"), name, label + ": shape");
  const auto places = numbers_of(object.require("data_offsets"), name, label + ": data_offsets");
  object.finish();
  if (places.size() != 2 || places[0] > places[1]) refuse_head(name, label + ": data_offsets are no two places");
  tensor.begin = places[0];
  tensor.end = places[1];
  const auto bits = bits_of(tensor.dtype);
  if (!bits) return tensor;  // of a newer version: its size is not known
  std::uint64_t whole = *bits;
  for (const std::uint64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(whole, extent, &whole)) refuse_head(name, label + ": its shape is absurdly large");
  }
  if (whole % 8 != 0 || whole / 8 != tensor.end - tensor.begin) {
    refuse_head(name, fmt::format("{}: its shape takes {} bits, and its place has {} bytes", label, whole,
                                  tensor.end - tensor.begin));
  }
  return tensor;
}

}  // namespace

bool may_be_safetensors(std::string_view first_bytes, std::uint64_t file_bytes) {
  if (first_bytes.size() <= length_bytes || first_bytes[length_bytes] != '{') return false;
  const std::uint64_t length = little_endian(first_bytes, length_bytes);
  return length >= 2 && length <= safetensors_head_bytes_max && length <= file_bytes - length_bytes;
}

SafeTensors parse_safetensors(std::string_view head, std::uint64_t data_bytes, std::string_view name) {
  SafeTensors file;
  file.data_bytes = data_bytes;
  const JsonLimits limits{.size_max = safetensors_head_bytes_max, .depth_max = 4, .values_max = 20'000'000};
  const JsonValue json = parse_json(head, name, limits);
  const auto* members = json.get<JsonValue::Object>();
  if (members == nullptr) refuse_head(name, "its head is no object");
  for (const JsonMember& member : *members) {
    if (member.key != "__metadata__") {
      file.tensors.push_back(tensor_of(member, name));
      continue;
    }
    const auto* texts = member.value.get<JsonValue::Object>();
    if (texts == nullptr) refuse_head(name, "__metadata__ is no object");
    for (const JsonMember& text : *texts) {
      const auto* value = text.value.get<std::string>();
      if (value == nullptr) refuse_head(name, "__metadata__ has what is no text");
      file.metadata.emplace_back(text.key, *value);
    }
  }
  std::ranges::sort(file.tensors, [](const SafeTensor& a, const SafeTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t at = 0;
  for (const SafeTensor& tensor : file.tensors) {
    if (tensor.begin != at) {
      refuse_head(name, fmt::format("tensor {} begins at byte {} of the data, and the one before it ends at {}",
                                    printable(tensor.name), tensor.begin, at));
    }
    at = tensor.end;
  }
  if (at < data_bytes) refuse_head(name, fmt::format("{} bytes follow the last tensor", data_bytes - at));
  if (at > data_bytes) {
    throw Error(FailureKind::content,
                fmt::format("cannot read {}: its head promises {} bytes of data, and there are {}",
                            printable(name, 4096), at, data_bytes),
                "get the file again");
  }
  return file;
}

SafeTensors read_safetensors(const std::filesystem::path& path) {
  FileBytes source(path);
  std::string begin(length_bytes + 1, '\0');
  begin.resize(read_full(source, begin));
  if (!may_be_safetensors(begin, source.size_bytes())) refuse_head(path.native(), "it does not begin as one does");
  const std::uint64_t length = little_endian(begin, length_bytes);
  std::string head(length, '{');
  if (read_full(source, std::span(head).subspan(1)) < length - 1) refuse_head(path.native(), "its head ends early");
  SafeTensors file = parse_safetensors(head, source.size_bytes() - length_bytes - length, path.native());
  file.data_offset = length_bytes + length;
  return file;
}

}  // namespace sabath
