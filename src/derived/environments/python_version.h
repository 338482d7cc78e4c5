// Versions and version specifiers of Python packages (PEP 440): "1!2.0rc1.post2.dev3+local.1", ">=3.8,!=3.9.*".
// Plain values; any thread. nullopt: the text is none.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct PythonVersion {
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> release;  // without zeros at its end, for comparisons
  std::size_t release_parts = 0;       // as it was written
  int pre_kind = 0;                    // 1 a, 2 b, 3 rc; 0: none
  std::uint64_t pre = 0;
  std::optional<std::uint64_t> post, dev;
  std::vector<std::string> local;

  [[nodiscard]] bool is_prerelease() const noexcept { return pre_kind != 0 || dev.has_value(); }
};

[[nodiscard]] std::optional<PythonVersion> try_python_version(std::string_view text);  // at most 200 bytes
[[nodiscard]] std::strong_ordering compare(const PythonVersion& a, const PythonVersion& b);
[[nodiscard]] std::string public_text(const PythonVersion& version);  // normalised: "1.0rc1", with its local part

enum class VersionOperator { equal, unequal, at_most, at_least, less, greater, compatible, identical };

struct VersionClause {
  VersionOperator op = VersionOperator::equal;
  PythonVersion version;
  bool is_prefix = false;  // ==1.2.*
  std::string text;        // of ===
};

using VersionSpecifier = std::vector<VersionClause>;  // all of them hold

[[nodiscard]] std::optional<VersionSpecifier> try_version_specifier(std::string_view text);  // at most 100 clauses
[[nodiscard]] bool meets(const PythonVersion& version, const VersionSpecifier& specifier);
// "==1.2" or "===1.2" alone: what a locked requirement says.
[[nodiscard]] bool is_pinned(const VersionSpecifier& specifier) noexcept;

}  // namespace sabath
