#include "environments/python_version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/split.h"
#include "base/text.h"

namespace sabath {
namespace {

constexpr std::size_t version_text_max = 200, clauses_max = 100;

bool is_separator(char c) { return c == '.' || c == '-' || c == '_'; }

// The rest of a version while it is read; all in lower case.
struct VersionScan {
  std::string_view rest;

  bool take(std::string_view text) {
    if (!rest.starts_with(text)) return false;
    rest.remove_prefix(text.size());
    return true;
  }
  std::optional<std::uint64_t> number() {
    const std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto value = try_whole_number(rest.substr(0, length));
    if (value) rest.remove_prefix(length);
    return value;
  }
  // [separator] word [separator] [number]; nullopt: none of these words comes next.
  template <std::size_t N>
  std::optional<std::pair<std::size_t, std::uint64_t>> segment(const std::array<std::string_view, N>& words) {
    const std::string_view before = rest;
    if (!rest.empty() && is_separator(rest.front())) rest.remove_prefix(1);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!take(words[i])) continue;
      const std::string_view behind = rest;
      if (!rest.empty() && is_separator(rest.front())) rest.remove_prefix(1);
      if (const auto value = number()) return std::pair(i, *value);
      rest = behind;
      return std::pair(i, std::uint64_t{0});
    }
    rest = before;
    return std::nullopt;
  }
};

bool read_release(VersionScan& scan, PythonVersion& version) {
  for (;;) {
    const auto part = scan.number();
    if (!part) return false;
    version.release.push_back(*part);
    if (scan.rest.size() < 2 || scan.rest[0] != '.' || !is_digit(scan.rest[1])) break;
    scan.rest.remove_prefix(1);
  }
  version.release_parts = version.release.size();
  while (version.release.size() > 1 && version.release.back() == 0) version.release.pop_back();
  return true;
}

bool read_local(VersionScan& scan, PythonVersion& version) {
  if (!scan.take("+")) return true;
  std::string local(scan.rest);
  std::ranges::replace_if(local, is_separator, '.');
  scan.rest = {};
  version.local = parts_at(local, '.');
  return std::ranges::all_of(version.local, [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
  });
}

// Of two parts of a local version: a number is above a word.
std::strong_ordering compare_local(const std::string& a, const std::string& b) {
  const auto one = try_whole_number(a), other = try_whole_number(b);
  if (one && other) return *one <=> *other;
  if (one || other) return one ? std::strong_ordering::greater : std::strong_ordering::less;
  return a.compare(b) <=> 0;
}

// 1.0.dev1 < 1.0a1.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1.
std::array<std::uint64_t, 7> rank(const PythonVersion& v) {
  const bool only_dev = v.pre_kind == 0 && !v.post && v.dev;
  const std::uint64_t kind = only_dev ? 0 : v.pre_kind == 0 ? 4 : static_cast<std::uint64_t>(v.pre_kind);
  return {kind, v.pre, v.post ? 1U : 0U, v.post.value_or(0), v.dev ? 0U : 1U, v.dev.value_or(0), 0};
}

PythonVersion without_local(PythonVersion version) {
  version.local.clear();
  return version;
}

std::uint64_t part_of(const PythonVersion& version, std::size_t i) {
  return i < version.release.size() ? version.release[i] : 0;
}

bool same_beginning(const PythonVersion& version, const PythonVersion& base, std::size_t parts) {
  if (version.epoch != base.epoch) return false;
  for (std::size_t i = 0; i < parts; ++i)
    if (part_of(version, i) != part_of(base, i)) return false;
  return true;
}

bool same_release(const PythonVersion& a, const PythonVersion& b) {
  return a.epoch == b.epoch && a.release == b.release;
}

// ==1.2rc1.* has a pre-release before the star: then that counts, too.
bool has_prefix(const PythonVersion& version, const PythonVersion& base) {
  return same_beginning(version, base, base.release_parts) &&
         (base.pre_kind == 0 || (version.pre_kind == base.pre_kind && version.pre == base.pre)) &&
         (!base.post || version.post == base.post);
}

bool meets_clause(const PythonVersion& version, const VersionClause& clause) {
  const PythonVersion plain = without_local(version);
  switch (clause.op) {
    case VersionOperator::equal:
      if (clause.is_prefix) return has_prefix(plain, clause.version);
      return compare(clause.version.local.empty() ? plain : version, clause.version) == 0;
    case VersionOperator::unequal:
      if (clause.is_prefix) return !has_prefix(plain, clause.version);
      return compare(clause.version.local.empty() ? plain : version, clause.version) != 0;
    case VersionOperator::at_most:
      return compare(plain, clause.version) <= 0;
    case VersionOperator::at_least:
      return compare(plain, clause.version) >= 0;
    case VersionOperator::less:  // 1.0 excludes 1.0rc1, unless it is one itself
      return compare(plain, clause.version) < 0 &&
             (clause.version.is_prerelease() || !plain.is_prerelease() || !same_release(plain, clause.version));
    case VersionOperator::greater:  // 1.0 excludes 1.0.post1 and 1.0+local, unless it is one itself
      return compare(plain, clause.version) > 0 &&
             (clause.version.post || !plain.post || !same_release(plain, clause.version));
    case VersionOperator::compatible:
      return compare(plain, clause.version) >= 0 &&
             same_beginning(plain, clause.version, clause.version.release_parts - 1);
    case VersionOperator::identical:
      return public_text(version) == clause.text;
  }
  return false;
}

std::optional<VersionClause> try_clause(std::string_view text) {
  constexpr std::pair<std::string_view, VersionOperator> operators[] = {
      {"===", VersionOperator::identical}, {"==", VersionOperator::equal},    {"!=", VersionOperator::unequal},
      {"<=", VersionOperator::at_most},    {">=", VersionOperator::at_least}, {"~=", VersionOperator::compatible},
      {"<", VersionOperator::less},        {">", VersionOperator::greater}};
  VersionClause clause;
  const auto* const found =
      std::ranges::find_if(operators, [&](const auto& one) { return text.starts_with(one.first); });
  if (found == std::end(operators)) return std::nullopt;
  clause.op = found->second;
  text = trim(text.substr(found->first.size()));
  const bool of_equality = clause.op == VersionOperator::equal || clause.op == VersionOperator::unequal;
  if (of_equality && text.ends_with(".*")) {
    clause.is_prefix = true;
    text.remove_suffix(2);
  }
  const auto version = try_python_version(text);
  if (!version || (clause.op == VersionOperator::compatible && version->release_parts < 2)) return std::nullopt;
  if (clause.is_prefix && (version->dev || !version->local.empty())) return std::nullopt;
  if (!of_equality && clause.op != VersionOperator::identical && !version->local.empty()) return std::nullopt;
  clause.version = *version;
  clause.text = public_text(*version);
  return clause;
}

}  // namespace

std::optional<PythonVersion> try_python_version(std::string_view text) {
  constexpr std::array<std::string_view, 8> pre_words{"alpha", "a", "beta", "b", "preview", "pre", "rc", "c"};
  constexpr int pre_kinds[] = {1, 1, 2, 2, 3, 3, 3, 3};
  constexpr std::array<std::string_view, 3> post_words{"post", "rev", "r"};
  constexpr std::array<std::string_view, 1> dev_words{"dev"};
  text = trim(text);
  if (text.empty() || text.size() > version_text_max) return std::nullopt;
  const std::string lower = to_lower(text);
  VersionScan scan{lower};
  scan.take("v");
  PythonVersion version;
  if (const auto mark = scan.rest.find('!'); mark != std::string_view::npos) {
    const auto epoch = scan.number();
    if (!epoch || !scan.take("!")) return std::nullopt;
    version.epoch = *epoch;
  }
  if (!read_release(scan, version)) return std::nullopt;
  if (const auto pre = scan.segment(pre_words)) {
    version.pre_kind = pre_kinds[pre->first];
    version.pre = pre->second;
  }
  if (const auto post = scan.segment(post_words)) {
    version.post = post->second;
  } else if (scan.rest.size() > 1 && scan.rest[0] == '-' && is_digit(scan.rest[1])) {  // 1.0-1 is 1.0.post1
    scan.rest.remove_prefix(1);
    version.post = scan.number();
    if (!version.post) return std::nullopt;
  }
  if (const auto dev = scan.segment(dev_words)) version.dev = dev->second;
  if (!read_local(scan, version) || !scan.rest.empty()) return std::nullopt;
  return version;
}

std::strong_ordering compare(const PythonVersion& a, const PythonVersion& b) {
  if (a.epoch != b.epoch) return a.epoch <=> b.epoch;
  for (std::size_t i = 0; i < std::max(a.release.size(), b.release.size()); ++i)
    if (part_of(a, i) != part_of(b, i)) return part_of(a, i) <=> part_of(b, i);
  if (const auto order = rank(a) <=> rank(b); order != 0) return order;
  for (std::size_t i = 0; i < std::min(a.local.size(), b.local.size()); ++i)
    if (const auto order = compare_local(a.local[i], b.local[i]); order != 0) return order;
  return a.local.size() <=> b.local.size();
}

std::string public_text(const PythonVersion& v) {
  constexpr std::string_view kinds[] = {"", "a", "b", "rc"};
  std::vector<std::uint64_t> release = v.release;
  release.resize(std::max(v.release_parts, release.size()));
  std::string text = v.epoch == 0 ? "" : fmt::format("{}!", v.epoch);
  text += fmt::format("{}", fmt::join(release, "."));
  if (v.pre_kind != 0) text += fmt::format("{}{}", kinds[v.pre_kind], v.pre);
  if (v.post) text += fmt::format(".post{}", *v.post);
  if (v.dev) text += fmt::format(".dev{}", *v.dev);
  if (!v.local.empty()) text += fmt::format("+{}", fmt::join(v.local, "."));
  return text;
}

std::optional<VersionSpecifier> try_version_specifier(std::string_view text) {
  VersionSpecifier specifier;
  text = trim(text);
  if (text.empty()) return specifier;
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (const std::string_view one = trim(rest.substr(0, comma)); !one.empty()) {
      auto clause = try_clause(one);
      if (!clause || specifier.size() == clauses_max) return std::nullopt;
      specifier.push_back(std::move(*clause));
    }
    if (comma == rest.size()) return specifier;
    rest.remove_prefix(comma + 1);
  }
}

bool meets(const PythonVersion& version, const VersionSpecifier& specifier) {
  return std::ranges::all_of(specifier, [&](const VersionClause& clause) { return meets_clause(version, clause); });
}

bool is_pinned(const VersionSpecifier& specifier) noexcept {
  return specifier.size() == 1 && !specifier[0].is_prefix &&
         (specifier[0].op == VersionOperator::equal || specifier[0].op == VersionOperator::identical);
}

}  // namespace sabath
