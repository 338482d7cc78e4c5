#include "software/version.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 8> before_release{"alpha", "beta", "rc", "pre", "preview", "dev", "a", "b"};
constexpr std::array<std::string_view, 6> never_released{"develop", "main", "master", "head", "trunk", "stable"};

bool is_letter_of_version(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view letters_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_letter_of_version(text[end])) ++end;
  return text.substr(0, end);
}

bool is_among_words(std::string_view word, std::span<const std::string_view> words) {
  const std::string lower = to_lower(word);
  return std::ranges::find(words, lower) != words.end();
}

// Of a letter or two, only in front of a digit: 2.0b1 comes before 2.0, and 1.1.1b after 1.1.1.
bool is_before_release(std::string_view word, std::string_view rest) {
  return is_among_words(word, before_release) && (word.size() > 1 || (!rest.empty() && is_digit(rest.front())));
}

struct VersionPiece {
  int rank = 2;  // 1: before the release; 2: the end; 3: a word; 4: a number; 5: a branch, newer than all
  std::string_view text;
};

// Takes the piece at the front off.
VersionPiece take_piece(std::string_view& rest) {
  while (!rest.empty() && !is_digit(rest.front()) && !is_letter_of_version(rest.front())) rest.remove_prefix(1);
  if (rest.empty()) return {};
  VersionPiece piece;
  if (is_digit(rest.front())) {
    std::size_t end = 0;
    while (end < rest.size() && is_digit(rest[end])) ++end;
    piece = {4, rest.substr(0, end)};
    rest.remove_prefix(end);
    piece.text.remove_prefix(std::min(piece.text.find_first_not_of('0'), piece.text.size()));
    return piece;
  }
  piece.text = letters_at(rest);
  rest.remove_prefix(piece.text.size());
  piece.rank = is_before_release(piece.text, rest) ? 1 : is_among_words(piece.text, never_released) ? 5 : 3;
  return piece;
}

std::string_view without_v(std::string_view text) {
  if (text.size() > 1 && (text.front() == 'v' || text.front() == 'V') && is_digit(text[1])) text.remove_prefix(1);
  return text;
}

int compare_pieces(const VersionPiece& a, const VersionPiece& b) {
  if (a.rank != b.rank) return a.rank - b.rank;
  if (a.rank == 4 && a.text.size() != b.text.size()) return a.text.size() < b.text.size() ? -1 : 1;
  const int order = a.rank == 4 ? a.text.compare(b.text) : to_lower(a.text).compare(to_lower(b.text));
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

VersionText parts_of_version(std::string_view version) noexcept {
  for (std::size_t at = 1; at + 1 < version.size(); ++at) {
    if ((version[at] != '-' && version[at] != '+') || !is_letter_of_version(version[at + 1])) continue;
    const std::string_view rest = version.substr(at + 1), word = letters_at(rest);
    if (version[at] == '-' && (is_before_release(word, rest.substr(word.size())) || word.size() < 2)) continue;
    return {version.substr(0, at), rest};
  }
  return {version, {}};
}

int compare_versions(std::string_view a, std::string_view b) noexcept {
  std::string_view left = without_v(parts_of_version(a).core), right = without_v(parts_of_version(b).core);
  while (true) {
    VersionPiece first = take_piece(left), second = take_piece(right);
    while (first.rank == 2 && second.rank == 4 && second.text.empty()) second = take_piece(right);
    while (second.rank == 2 && first.rank == 4 && first.text.empty()) first = take_piece(left);
    const int order = compare_pieces(first, second);
    if (order != 0 || first.rank == 2) return order;
  }
}

bool is_version_of(std::string_view version, std::string_view base) noexcept {
  std::string_view left = without_v(parts_of_version(version).core), right = without_v(parts_of_version(base).core);
  while (true) {
    const VersionPiece wanted = take_piece(right);
    if (wanted.rank == 2) return true;
    const VersionPiece piece = take_piece(left);
    const bool zero = piece.rank == 2 && wanted.rank == 4 && wanted.text.empty();  // 12 is of 12.0
    if (!zero && compare_pieces(piece, wanted) != 0) return false;
  }
}

}  // namespace sabath
