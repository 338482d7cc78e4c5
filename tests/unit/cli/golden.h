// Texts that are judged by eye once and kept in golden/. With SABATH_ACCEPT=1 in the environment the files are written
// anew; `git diff` then shows what changed.
#pragma once

#include <string>
#include <string_view>

namespace sabath::test {

void expect_golden(std::string_view name, const std::string& text);  // golden/<name>.txt

}  // namespace sabath::test
