#include "sabath/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t path_length_max = 4095;
constexpr std::size_t name_length_max = 255;
constexpr std::size_t component_count_max = 128;

std::string_view take_component(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view component = rest.substr(0, slash);
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  return component;
}

constexpr std::string_view too_long = "it is longer than 4095 bytes";
constexpr std::string_view name_too_long = "a component is longer than 255 bytes";
constexpr std::string_view too_deep = "it has more than 128 components";

// Why `text` is no relative path, or "" if it is one.
std::string_view fault(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.size() > path_length_max) return too_long;
  if (text.front() == '/') return "it is absolute";
  if (text.back() == '/') return "it ends with '/'";
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_sequence(rest);
    if (length == 0) return "it is not UTF-8";
    if (begins_with_control(rest)) return "it holds a control character";
    rest.remove_prefix(length);
  }
  std::size_t count = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view component = take_component(rest);
    if (component.empty()) return "it has an empty component";
    if (component == "." || component == "..") return "it has a \".\" or \"..\" component";
    if (component.size() > name_length_max) return name_too_long;
    if (++count > component_count_max) return too_deep;
  }
  return {};
}

}  // namespace

RelativePath RelativePath::parse(std::string_view text) {
  if (const std::string_view why = fault(text); !why.empty()) {
    const bool harmless = why == too_long || why == name_too_long || why == too_deep;
    throw Error(FailureKind::invalid,
                fmt::format("{} \"{}\": {}", harmless ? "overlong path" : "unsafe path", printable(text), why),
                harmless ? "shorten its names, or pack its directory into a tar file, which an asset holds as one file"
                         : "a path inside an asset is relative, without \"..\", in UTF-8 without control characters");
  }
  return RelativePath(std::string(text));
}

std::optional<RelativePath> RelativePath::try_parse(std::string_view text) {
  if (!fault(text).empty()) return std::nullopt;
  return RelativePath(std::string(text));
}

std::string_view RelativePath::name() const noexcept {
  const std::string_view text = text_;
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

std::string_view RelativePath::parent() const noexcept {
  const std::string_view text = text_;
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : text.substr(0, slash);
}

RelativePath RelativePath::operator/(const RelativePath& below) const { return parse(text_ + '/' + below.text_); }

bool symlink_stays_inside(const RelativePath& link, std::string_view target) {
  if (target.empty() || target.size() > path_length_max || target.front() == '/') return false;
  if (target.find('\0') != std::string_view::npos) return false;
  std::size_t depth = 0;  // of the directory reached; of the link's own to begin with
  for (std::string_view rest = link.parent(); !rest.empty(); ++depth) take_component(rest);
  bool named = false;
  for (std::string_view rest = target; !rest.empty();) {
    const std::string_view component = take_component(rest);
    if (component.empty() || component == ".") continue;
    if (component.size() > name_length_max) return false;
    if (component != "..") {
      named = true;
    } else if (named || depth-- == 0) {
      return false;
    }
  }
  return true;
}

namespace {

// The character at the front, if it has no look of its own: it orders what follows otherwise (bidirectional controls),
// joins, parts or annotates, or is a blank other than U+0020. Unicode 15: Cf, Zs, Zl, Zp, Default_Ignorable_Code_Point.
std::optional<char32_t> hidden_character(std::string_view text) {
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 31> hidden{{
      {0xA0, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x600, 0x605},     {0x61C, 0x61C},
      {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},
      {0x1680, 0x1680},   {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},
      {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},
      {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
      {0x13430, 0x13455}, {0x16FE4, 0x16FE4}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A},
      {0xE0000, 0xE0FFF},
  }};
  const std::size_t length = utf8_sequence(text);
  if (length < 2) return std::nullopt;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  char32_t code = byte(0) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte(i) & 0x3FU);
  const auto found = std::ranges::find_if(hidden, [&](const Range& range) { return code <= range.last; });
  return found != hidden.end() && code >= found->first ? std::optional(code) : std::nullopt;
}

}  // namespace

std::string printable(std::string_view text, std::size_t length_max) {
  constexpr std::string_view cut = "...";
  std::string shown;
  std::size_t fits = 0;  // length of the part that stays if the text must be cut
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0 || begins_with_control(text)) {
      const std::size_t bytes = length == 0 ? 1 : length;
      for (std::size_t i = 0; i < bytes; ++i) shown += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[i]));
      text.remove_prefix(bytes);
    } else if (const auto hidden = hidden_character(text)) {
      const auto code = static_cast<std::uint32_t>(*hidden);
      shown += code > 0xFFFF ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
      text.remove_prefix(length);
    } else {
      shown += text.substr(0, length);
      text.remove_prefix(length);
    }
    if (shown.size() > length_max) {
      shown.resize(fits);
      return length_max >= cut.size() ? shown.append(cut) : shown;
    }
    if (shown.size() + cut.size() <= length_max) fits = shown.size();
  }
  return shown;
}

}  // namespace sabath
