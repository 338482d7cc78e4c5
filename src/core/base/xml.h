// Reads the part of XML 1.0 that servers' listings need: elements, attributes, text, character references. No DOCTYPE,
// no own entities, and bounds on everything. Pure; throws Error{unavailable} for XML that it does not understand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath {

struct XmlElement {
  std::string name;                                             // without a namespace's prefix
  std::string text;                                             // its own, without that of the elements inside
  std::vector<std::pair<std::string, std::string>> attributes;  // names as they stand, each once
  std::vector<XmlElement> children;

  // The first child of that name, nullptr if there is none.
  [[nodiscard]] const XmlElement* find(std::string_view child) const;
  [[nodiscard]] std::string text_of(std::string_view child) const;        // "" if there is none
  [[nodiscard]] std::string attribute(std::string_view attribute) const;  // "" if there is none
};

struct XmlLimits {
  std::size_t size_max = 4 * 1024 * 1024;  // bytes of text
  std::size_t depth_max = 16;
  std::size_t elements_max = 1'000'000;  // and attributes
};

[[nodiscard]] XmlElement parse_xml(std::string_view text, const XmlLimits& limits = {});

}  // namespace sabath
