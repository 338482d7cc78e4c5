#include "base/checksum_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "base/percent.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t line_length_max = 16 * 1024;
constexpr std::array<std::string_view, 9> tools = {"md5",    "sha1", "sha224", "sha256", "sha384",
                                                   "sha512", "b2",   "b3",     "blake2"};

// A line, as it is written.
struct SumLine {
  std::string algorithm;  // "sha256", "blake2b"; empty: by the number of digits
  std::string hex;        // lower case
  std::string name;       // empty: there is none
};

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

bool is_sum_length(std::size_t digits) {
  return std::ranges::any_of(checksum_algorithms, [&](const auto& each) { return each.digits == digits; });
}

// "\n", "\r" and "\\" of a name, where the line begins with a backslash (coreutils).
std::string unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool escape = text[i] == '\\' && (next == 'n' || next == 'r' || next == '\\');
    name += !escape ? text[i] : next == 'n' ? '\n' : next == 'r' ? '\r' : '\\';
    if (escape) ++i;
  }
  return name;
}

// "SHA256 (f) = HEX" of BSD; "SHA2-256(f)= HEX" of openssl.
std::optional<SumLine> try_tagged(std::string_view line) {
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == line.npos || close == line.npos || close < open || open == 0) return std::nullopt;
  const std::string_view rest = trim(line.substr(close + 1));
  if (!rest.starts_with('=') || !is_hex(trim(rest.substr(1)))) return std::nullopt;
  std::string algorithm = to_lower(trim(line.substr(0, open)));
  if (algorithm.empty() || algorithm.size() > 20 || algorithm.find_first_of(" /\\") != algorithm.npos)
    return std::nullopt;
  if (algorithm.starts_with("sha2-")) algorithm = "sha" + algorithm.substr(5);
  return SumLine{std::move(algorithm), to_lower(trim(rest.substr(1))),
                 std::string(line.substr(open + 1, close - open - 1))};
}

std::optional<SumLine> try_sum_line(std::string_view line) {
  const bool escaped = line.starts_with('\\');
  if (escaped) line.remove_prefix(1);
  if (auto tagged = try_tagged(line)) {
    if (escaped) tagged->name = unescaped(tagged->name);
    return tagged;
  }
  const std::string_view hex = line.substr(0, line.find_first_of(" \t"));
  if (!is_hex(hex) || !is_sum_length(hex.size())) return std::nullopt;
  std::string_view name = line.substr(hex.size());
  if (name.starts_with("  ") || name.starts_with(" *")) {
    name.remove_prefix(2);
  } else {
    name = trim(name);  // of other tools: any blanks
    if (name.starts_with('*')) name.remove_prefix(1);
  }
  return SumLine{"", to_lower(hex), escaped ? unescaped(name) : std::string(name)};
}

// The signed text, of one with a PGP signature around it: a part of `text`, empty at its end if no text is signed.
std::string_view signed_part(std::string_view text) {
  if (!text.starts_with("-----BEGIN PGP SIGNED MESSAGE-----")) return text;
  std::size_t from = text.find("\n\n");
  if (const std::size_t other = text.find("\r\n\r\n"); other < from) from = other + 2;
  text.remove_prefix(std::min(from, text.size()));
  return text.substr(0, text.find("\n-----BEGIN PGP SIGNATURE-----"));
}

// Calls take(line, number) for each line that may have a sum, until it says false.
template <typename Take>
void each_sum_line(std::string_view text, Take take) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string_view counted = signed_part(text);
  auto number = static_cast<std::size_t>(std::count(text.data(), counted.data(), '\n')) + 1;
  for (std::string_view rest = counted; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view plain = trim(line);
    if (plain.empty() || plain.front() == '#' || plain.front() == ';') continue;
    if (!take(line, number)) return;
  }
}

// A hash of as many digits, as the list's own name tells; empty: the usual one.
std::string unusual_algorithm(const Url& list) {
  const std::string name = to_lower(list.file_name());
  for (const auto& [part, algorithm] : {std::pair<std::string_view, const char*>{"blake3", "blake3"},
                                        {"b3sum", "blake3"},
                                        {"blake2", "blake2"},
                                        {"b2sum", "blake2"},
                                        {"sha3-", "sha3"},
                                        {"sha3_", "sha3"}})
    if (name.find(part) != name.npos) return algorithm;
  return "";
}

// "f.h5.sha256" -> "f.h5"
std::string named_by_list(const Url& list) {
  std::string name = list.file_name();
  if (name.ends_with(".txt")) name.resize(name.size() - 4);
  const std::size_t dot = name.rfind('.');
  return dot == name.npos ? "" : name.substr(0, dot);
}

class SumsReader {
 public:
  SumsReader(const Url& list, const Url& base) : list_(list), base_(base), unusual_(unusual_algorithm(list)) {}

  void take(std::string_view line, std::size_t number) {
    if (line.size() > line_length_max) refuse(number, fmt::format("a line longer than {} bytes", line_length_max));
    auto sum = try_sum_line(line);
    if (!sum) refuse(number, fmt::format("\"{}\" is no line of a checksum list", printable(line)));
    if (sum->name.empty()) sum->name = named_by_list(list_);
    std::string_view name = sum->name;
    while (name.starts_with("./")) name.remove_prefix(2);
    const auto path = RelativePath::try_parse(name);
    if (!path) refuse(number, fmt::format("no file may be called \"{}\"", printable(name)));
    if (path->text() == list_.file_name()) return;
    add(*path, *sum, number);
  }

  std::vector<ListedFile> files() && { return std::move(files_); }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& why) const {
    throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", printable(list_.display(), 1000), line, why));
  }

  void add(const RelativePath& path, const SumLine& sum, std::size_t line) {
    const auto [place, fresh] = places_.emplace(path.text(), files_.size());
    if (fresh) {
      if (files_.size() == listed_files_max) refuse(line, fmt::format("more than {} files", listed_files_max));
      files_.push_back({path, {base_.resolve("./" + percent_encode_path(path.text()))}, std::nullopt, {}});
    }
    ListedFile& file = files_[place->second];
    const std::string& said = sum.algorithm.empty() ? unusual_ : sum.algorithm;
    const ChecksumAlgorithm* algorithm = said.empty() ? by_digits(sum.hex) : find_checksum_algorithm(said);
    if (algorithm == nullptr) {
      file.unchecked = said;
      return;
    }
    if (!algorithm->spells(sum.hex)) refuse(line, fmt::format("\"{}\" is no {}", printable(sum.hex), algorithm->name));
    std::string& known = file.checksum.*algorithm->value;
    if (!known.empty() && known != sum.hex)
      refuse(line, fmt::format("\"{}\" appears twice, with two sums", printable(path.text())));
    known = sum.hex;
  }

  static const ChecksumAlgorithm* by_digits(const std::string& hex) {
    const auto found = std::ranges::find(checksum_algorithms, hex.size(), &ChecksumAlgorithm::digits);
    return found == checksum_algorithms.end() ? nullptr : &*found;
  }

  const Url &list_, &base_;
  const std::string unusual_;
  std::vector<ListedFile> files_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

bool names_checksum_list(const Url& url) {
  std::string name = to_lower(url.file_name());
  for (const std::string_view ending : {".asc", ".txt"})
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  if (name.ends_with("checksum") || name.ends_with("checksums")) return true;
  const std::size_t dot = name.rfind('.');
  const std::string_view last = std::string_view(name).substr(dot == name.npos ? 0 : dot + 1);
  for (const std::string_view tool : tools) {
    if (dot != name.npos && last == tool && tool != "b2" && tool != "b3") return true;
    for (const char* ending : {"sum", "sums"})
      if (name.ends_with(fmt::format("{}{}", tool, ending))) return true;
  }
  return false;
}

bool is_checksum_list(std::string_view text) {
  bool is = false;
  each_sum_line(text, [&](std::string_view line, std::size_t) {
    const auto sum = line.size() > line_length_max ? std::nullopt : try_sum_line(line);
    is = sum && !sum->name.empty();
    return false;
  });
  return is;
}

std::vector<ListedFile> parse_checksum_list(std::string_view text, const Url& list, const Url& base) {
  SumsReader reader(list, base);
  each_sum_line(text, [&](std::string_view line, std::size_t number) {
    reader.take(line, number);
    return true;
  });
  std::vector<ListedFile> files = std::move(reader).files();
  if (files.empty())
    throw Error(FailureKind::invalid, fmt::format("{}: the list names no file", printable(list.display(), 1000)));
  return files;
}

}  // namespace sabath
