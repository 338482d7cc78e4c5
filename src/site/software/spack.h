// What Spack has installed, by its database (index.json). Pure but for detect_spack(); one thread.
#pragma once

#include <string_view>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

struct SpackPackage {
  Software software;  // without a module
  std::string hash;
};

// Throws Error{invalid} for a text of another form, and beyond the bounds.
[[nodiscard]] std::vector<SpackPackage> parse_spack_database(std::string_view json);

// A module whose name ends with a package's hash is that package; the other packages get rows of their own.
void join_spack(std::vector<SpackPackage> packages, std::vector<Software>& software);

void detect_spack(Programs& programs, SiteProfile& profile);

}  // namespace sabath
