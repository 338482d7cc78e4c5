#include "sabath/recipe.h"

namespace sabath {

std::string_view access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::open:
      return "public";
    case AccessKind::login:
      return "login";
    case AccessKind::restricted:
      break;
  }
  return "private";
}

std::optional<AccessKind> try_parse_access(std::string_view text) {
  for (const AccessKind kind : {AccessKind::open, AccessKind::login, AccessKind::restricted}) {
    if (access_name(kind) == text) return kind;
  }
  return std::nullopt;
}

std::string_view fragment_type_name(FragmentType type) {
  switch (type) {
    case FragmentType::file:
      return "file";
    case FragmentType::archive:
      return "archive";
    case FragmentType::file_list:
      break;
  }
  return "file_list";
}

std::optional<std::uint64_t> known_size(const Recipe& recipe) {
  std::uint64_t sum = 0;
  for (const Fragment& fragment : recipe.fragments) {
    // The size of a list is that of the list itself, not of what it lists.
    if (!fragment.size_bytes || fragment.type == FragmentType::file_list) return std::nullopt;
    sum += *fragment.size_bytes;
  }
  if (recipe.fragments.empty()) return std::nullopt;
  return sum;
}

}  // namespace sabath
