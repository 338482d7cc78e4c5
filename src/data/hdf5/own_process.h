// HDF5 in a process of its own. The library parses files of strangers, in C, and has crashed, looped and taken all
// memory on damaged ones. A death of that process is an Error here, not the death of the caller; and other threads of
// the caller may use an HDF5 of another version.
//
// The process is a companion of this library (base/companion.h). The first call starts it; it answers one call after
// the other; after a failure the next call starts another. It ends with this object, or with the thread that started
// it: so each thread needs a Hdf5 of its own. Throws what inspect.h, logical_hash.h, select.h and extract.h say, and
// Error{invalid} with the file's name if the process died of a signal, gave no sign of life or took too much memory;
// Error{interrupted} after a stop request: the process is then dead; Error{command} if the program cannot be started.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "base/companion.h"
#include "hdf5/messages.h"

namespace sabath {

class Hdf5 {
 public:
  explicit Hdf5(std::filesystem::path program) : program_(std::move(program)) {}  // empty: it is found

  [[nodiscard]] nlohmann::ordered_json inspect(const std::filesystem::path& file, const std::stop_token& stop);
  // Without `objects`: the hash of the whole alone.
  [[nodiscard]] LogicalHash hash(const std::filesystem::path& file, bool objects, const std::stop_token& stop);
  // `options` as in select.h, but its functions are not called. Removes the files that a dead process left.
  [[nodiscard]] SelectedFile select(const std::filesystem::path& source, const Selections& selections,
                                    const std::filesystem::path& out, const SelectOptions& options,
                                    const std::stop_token& stop);

  // As extract.h says. `out` is left as the process left it.
  [[nodiscard]] Extracted extract(const std::filesystem::path& file, const Hyperslab& selection,
                                  const std::filesystem::path& out, std::uint64_t offset, const std::stop_token& stop);

 private:
  [[nodiscard]] std::optional<std::string> answer_to(const Hdf5Request& request, const std::string& what,
                                                     const std::stop_token& stop);
  [[nodiscard]] std::string ask(const Hdf5Request& request, const std::stop_token& stop);

  std::filesystem::path program_;
  std::unique_ptr<Companion> process_;  // nullptr: none is there
};

}  // namespace sabath
