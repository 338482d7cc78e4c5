// All refs of a store that its user may believe: his own and those of trusted owners. A second read() reads again only
// what may have changed. One thread. Throws Error{storage}.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

class RefReader {
 public:
  explicit RefReader(Store& store) : store_(store) {}
  // Of this store and of the others in which it looks; damaged ones are passed over. True: there may be news.
  bool read();
  [[nodiscard]] std::vector<Ref> refs() const;

 private:
  struct Fan {
    struct timespec changed {};  // of the directory, when it was read
    bool settled = false;        // then it had not changed for so long that a later change has another time
    std::vector<Ref> refs;
  };
  bool read_one(Store& store);
  bool read_fan(Store& store, const std::filesystem::path& directory);

  Store& store_;
  std::map<std::string, Fan> fans_;  // by directory
};

}  // namespace sabath
