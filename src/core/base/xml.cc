#include "base/xml.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const XmlLimits& limits) : rest_(text), limits_(limits) {
    if (rest_.size() > limits.size_max) fail("it is too long");
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  }

  XmlElement document() {
    skip_prologue();
    XmlElement root = element(0);
    skip_prologue();
    if (!rest_.empty()) fail("something follows its end");
    return root;
  }

 private:
  [[noreturn]] static void fail(const char* why) {
    throw Error(FailureKind::unavailable, std::string("the answer is no XML that can be read: ") + why);
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  // Up to and with `end`.
  std::string_view take_until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == rest_.npos) fail("it ends too early");
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return taken;
  }

  void skip_prologue() {
    for (skip_blanks();; skip_blanks()) {
      if (rest_.starts_with("<?")) {
        take_until("?>");
      } else if (rest_.starts_with("<!--")) {
        take_until("-->");
      } else {
        return;
      }
    }
  }

  XmlElement element(std::size_t depth) {
    if (depth > limits_.depth_max) fail("it is too deep");
    if (!rest_.starts_with('<') || rest_.starts_with("<!") || rest_.starts_with("</")) fail("an element is missing");
    rest_.remove_prefix(1);
    count();
    const std::string_view tag = name();
    XmlElement found;
    found.name = tag.substr(tag.find(':') == tag.npos ? 0 : tag.find(':') + 1);
    for (skip_blanks(); !rest_.starts_with('>') && !rest_.starts_with("/>"); skip_blanks()) add_attribute(found);
    const bool empty = rest_.starts_with('/');
    rest_.remove_prefix(empty ? 2 : 1);
    if (!empty) content(found, tag, depth);
    return found;
  }

  std::string_view name() {
    const std::size_t end = rest_.find_first_of(" \t\r\n/>=<\"'&");
    if (end == rest_.npos) fail("it ends too early");
    if (end == 0) fail("a name is missing");
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  void add_attribute(XmlElement& to) {
    count();
    const std::string_view key = name();
    skip_blanks();
    if (!rest_.starts_with('=')) fail("an attribute has no value");
    rest_.remove_prefix(1);
    skip_blanks();
    const std::string_view quote = rest_.substr(0, 1);
    if (quote != "\"" && quote != "'") fail("an attribute's value is not quoted");
    rest_.remove_prefix(1);
    const std::string_view value = take_until(quote);
    if (value.find('<') != value.npos) fail("an attribute's value holds a '<'");
    if (!to.attribute(key).empty()) fail("an attribute appears twice");
    if (to.attributes.size() > attributes_max) fail("an element has too many attributes");
    to.attributes.emplace_back(key, decoded(value));
  }

  void count() {
    if (++elements_ > limits_.elements_max) fail("it has too many elements");
  }

  void content(XmlElement& into, std::string_view tag, std::size_t depth) {
    for (;;) {
      into.text += decoded(rest_.substr(0, rest_.find('<')));
      rest_.remove_prefix(std::min(rest_.find('<'), rest_.size()));
      if (rest_.starts_with("</")) {
        rest_.remove_prefix(2);
        if (trim(take_until(">")) != tag) fail("an element is closed that was not open");
        return;
      }
      if (rest_.starts_with("<!--")) {
        take_until("-->");
      } else if (constexpr std::string_view cdata = "<![CDATA["; rest_.starts_with(cdata)) {
        rest_.remove_prefix(cdata.size());
        into.text += take_until("]]>");
      } else {
        into.children.push_back(element(depth + 1));
      }
    }
  }

  static std::string decoded(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const std::size_t mark = std::min(text.find('&'), text.size());
      out += text.substr(0, mark);
      text.remove_prefix(mark);
      if (text.empty()) break;
      const std::size_t end = text.find(';');
      if (end == text.npos) fail("a character reference has no end");
      out += character(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
    }
    return out;
  }

  static std::string character(std::string_view name) {
    if (name == "amp") return "&";
    if (name == "lt") return "<";
    if (name == "gt") return ">";
    if (name == "quot") return "\"";
    if (name == "apos") return "'";
    if (!name.starts_with('#')) fail("an entity of its own");
    name.remove_prefix(1);
    const int base = name.starts_with('x') ? 16 : 10;
    if (base == 16) name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
    if (error != std::errc{} || end != name.data() + name.size() || code == 0 || code > 0x10FFFF) fail("no character");
    return encoded(code);
  }

  static std::string encoded(std::uint32_t code) {  // UTF-8
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
    if (code < 0x10000) return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
    return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
            byte(0x80 | (code & 0x3F))};
  }

  static constexpr std::size_t attributes_max = 100;  // of one element
  std::string_view rest_;
  const XmlLimits& limits_;
  std::size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::find(std::string_view child) const {
  const auto found = std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.name == child; });
  return found == children.end() ? nullptr : &*found;
}

std::string XmlElement::text_of(std::string_view child) const {
  const XmlElement* found = find(child);
  return found == nullptr ? "" : found->text;
}

std::string XmlElement::attribute(std::string_view attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == attribute; });
  return found == attributes.end() ? "" : found->second;
}

XmlElement parse_xml(std::string_view text, const XmlLimits& limits) { return Parser(text, limits).document(); }

}  // namespace sabath
