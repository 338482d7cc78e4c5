// What a user has decided: a directory with a file for each decision, named by what was decided about. So processes at
// work at once never rewrite each other's decisions, and a decision is found by one look. docs/trust.md has the format.
//
// Only files that this user (or root) owns, in a directory where no other user may write, count; a file that says
// something else than its name does not count either. Any thread. Throws Error{storage}, Error{space}, Error{usage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trust/code.h"

namespace sabath {

enum class TrustScope : std::uint8_t {
  commit,  // this commit with these commands
  origin,  // all that this recipe says about this origin
};

struct TrustEntry {
  std::string id;  // 64 hexadecimal digits
  TrustScope scope = TrustScope::commit;
  std::string name, recipe, origin, commit;  // recipe: empty where it was the user's own, or came with the program
  Sha256 digest;                             // scope commit only
  std::vector<std::string> commands;         // for people
  std::uint64_t since = 0;                   // seconds since 1970
};

class TrustRegistry {
 public:
  explicit TrustRegistry(std::filesystem::path directory);  // empty: there is none, and nothing is trusted

  struct Found {
    std::optional<TrustEntry> entry;
    std::string doubt;  // why a file of that name does not count
  };
  [[nodiscard]] Found find(const AssetCode& code) const;
  TrustEntry add(const AssetCode& code, TrustScope scope) const;
  // By name, then id. `doubts`: files that do not count.
  [[nodiscard]] std::vector<TrustEntry> all(std::vector<std::string>& doubts) const;
  // False: it had gone already.
  bool remove(const std::string& id) const;  // an entry's
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& id) const;
  [[nodiscard]] Found read(const std::string& id) const;
  std::filesystem::path directory_;
};

[[nodiscard]] std::string_view name_of(TrustScope scope);
[[nodiscard]] std::string id_of(const TrustEntry& entry);  // of what it decides about

// The text of an entry's file, and back. Throws Error{invalid} with file and line; `id` is what the file's name says.
[[nodiscard]] std::string text_of(const TrustEntry& entry);
[[nodiscard]] TrustEntry parse_trust_entry(std::string_view text, const std::string& file, const std::string& id);

}  // namespace sabath
