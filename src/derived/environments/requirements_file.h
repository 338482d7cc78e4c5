// requirements.txt as pip reads it: requirements, hashes, and other files beside it (-r, -c). Of its options only those
// that change nothing are taken; the others are listed, so that they are refused before any program starts. At most
// 10,000 requirements, 8 files deep. Any thread; reads through `files`. Throws Error{invalid}.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "environments/requirement.h"

namespace sabath {

struct RequirementLine {
  PythonRequirement requirement;
  std::vector<std::string> sha256;  // digests that its file may have
  std::string place;                // "requirements.txt:3"
  bool is_constraint = false;
};

struct IndexOption {
  std::string url, place;
  bool is_extra = false;
};

struct RequirementsFile {
  std::vector<RequirementLine> lines;
  std::vector<IndexOption> indexes;
  std::vector<std::string> refused;  // "requirements.txt:4: -e . (a local project, whose code would run)"
};

// The text of the file that a line names relative to the first one's directory, by a path that does not leave it.
using RequirementFiles = std::function<std::string(const std::string& relative)>;

void read_requirements(std::string_view text, const std::string& origin, const RequirementFiles& files,
                       RequirementsFile& into);

}  // namespace sabath
