// What EasyBuild has installed, by the folders of its tree: software/NAME/VERSION/easybuild. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

// (name, version) of all in DIRECTORY/software, in their order; at most 50,000.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_easybuild_tree(
    const std::filesystem::path& directory);

void detect_easybuild(Programs& programs, SiteProfile& profile);

}  // namespace sabath
