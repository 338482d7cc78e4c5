// What is needed of XML 1.0 to read S3's answers: elements, text, character references. No DOCTYPE, no entities of its
// own, and bounds on everything. Pure; throws Error{unavailable} for what it does not understand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::s3 {

struct XmlElement {
  std::string name;  // without a namespace's prefix
  std::string text;  // its own, without that of the elements inside
  std::vector<XmlElement> children;

  // The first child of that name, nullptr if there is none.
  [[nodiscard]] const XmlElement* find(std::string_view child) const;
  [[nodiscard]] std::string text_of(std::string_view child) const;  // "" if there is none
};

constexpr std::size_t xml_size_max = 4 * 1024 * 1024, xml_depth_max = 16;

[[nodiscard]] XmlElement parse_xml(std::string_view text);

}  // namespace sabath::s3
