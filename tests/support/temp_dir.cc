#include "support/temp_dir.h"

#include <sys/stat.h>

#include <cstdlib>
#include <system_error>

namespace sabath::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "sabath-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr || chmod(name.c_str(), 0755) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make " + name);
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sabath::test
