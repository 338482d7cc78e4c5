// What is asked of a machine's software: "cuda>=11,<13", "openmpi+cuda", "gcc/11.3". Pure; any thread. Throws
// Error{usage}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/site.h"

namespace sabath {

struct VersionBound {
  enum class Kind { at_least, above, at_most, below, of, exactly, other_than };
  Kind kind = Kind::of;
  std::string version;
};

struct SoftwareNeed {
  std::string text;  // as it was asked
  std::string name;  // in lower case
  std::vector<VersionBound> bounds;
  std::vector<std::string> features;  // in lower case
};

// NAME, then any of ">=V" ">V" "<=V" "<V" "==V" "!=V" "=V" "/V", separated by commas, then "+FEATURE"s. "=12" and "/12"
// take 12.2, and so does "<=12", as Spack's ":12"; "==12.2" takes no other.
[[nodiscard]] SoftwareNeed parse_software_need(std::string_view text);

[[nodiscard]] bool meets(std::string_view version, const VersionBound& bound) noexcept;
[[nodiscard]] bool meets(std::string_view version, const SoftwareNeed& need) noexcept;
[[nodiscard]] std::string text_of_bounds(const SoftwareNeed& need);  // ">=11,<13"; empty: any version

// "compiler/gcc" is called gcc, too; in any case of letters.
[[nodiscard]] bool is_called(std::string_view name, std::string_view lower_name);

}  // namespace sabath
