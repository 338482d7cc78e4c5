// A requirement of a Python package (PEP 508): `name[extra] >=1.2,<2 ; marker`, or `name @ URL ; marker`. Plain values;
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environments/python_version.h"

namespace sabath {

struct PythonRequirement {
  std::string name;                 // normalised
  std::vector<std::string> extras;  // normalised, in order, each once
  VersionSpecifier specifier;
  std::string specifier_text;  // as it was written, without blanks
  std::string url;             // of `name @ URL`; empty: none
  std::string marker;          // not evaluated yet

  [[nodiscard]] std::string text() const;  // without its marker
};

// What is wrong with the text, or the requirement. At most 16 KiB.
struct RequirementReading {
  std::optional<PythonRequirement> requirement;
  std::string why_not;
};
[[nodiscard]] RequirementReading read_requirement(std::string_view text);

// Empty: this URL names a wheel on a web server, of this package where `name` is not empty. Else why it is not taken.
[[nodiscard]] std::string why_no_wheel(std::string_view url, const std::string& name);

}  // namespace sabath
