#include "conda/conda_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool is_plain_in_texts(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("/._-+@=,").find(c) != std::string_view::npos;
}

}  // namespace

std::string checked_place(const std::filesystem::path& place) {
  std::string text = place.native();
  if (text.empty()) return text;
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  const auto refuse = [&](const std::string& why) {
    throw Error(FailureKind::usage, fmt::format("{} {}", printable(place.native(), 1000), why),
                "name the directory that the environment will be on the nodes: /local/disk/NAME");
  };
  if (text[0] != '/' || text.size() < 2) refuse("is no absolute path of a directory");
  if (!std::ranges::all_of(text, is_plain_in_texts))
    refuse("has a character that scripts would read otherwise: letters, digits and /._-+@=, make a place");
  if (!RelativePath::try_parse(std::string_view(text).substr(1)))
    refuse("is no plain path: without . and .., and without // in it");
  if (text.size() > conda_place_max) refuse(fmt::format("has more than {} bytes", conda_place_max));
  return text;
}

std::string remark_of_place(const std::string& place, const std::string& name) {
  const std::filesystem::path path(place);
  const std::string how =
      path.filename() == name
          ? fmt::format("`{} {} {} {}`", verb_text("stage"), name, option_name("to"), path.parent_path().native())
          : fmt::format("`{} {} {} {}`", verb_text("view"), name, option_name("to"), place);
  return fmt::format("its files name {}: it works where that path leads to it; {} puts it there", place, how);
}

void refuse_without_place(const std::string& file, const std::string& package, const std::string& name) {
  throw Error(
      FailureKind::invalid,
      fmt::format("{} of {} names the place of the environment, as files of conda do", printable(file), package),
      fmt::format("say where it will be on the nodes: {} /local/disk/{}", option_name("at"), name));
}

}  // namespace sabath
