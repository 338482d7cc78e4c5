#include "environments/lock_entries.h"

#include <fmt/format.h>

#include "base/text.h"
#include "environments/package_name.h"
#include "environments/python_version.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace

std::string place_of(std::string_view origin, std::size_t line) { return fmt::format("{}:{}", origin, line); }

std::string digest_digits(std::string_view text, std::size_t digits, std::string_view origin, std::size_t line) {
  if (text.size() != digits || !is_hexadecimal(text))
    throw_at(origin, line, fmt::format("a digest is not {} hexadecimal digits: {}", digits, printable(text, 80)));
  return to_lower(text);
}

bool take_digest(std::string_view text, LockedFile& file) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view algorithm = text.substr(0, colon), digits = text.substr(colon + 1);
  if (!is_hexadecimal(digits) || digits.empty()) return false;
  if (algorithm == "sha256" && digits.size() != 64) return false;
  if (algorithm == "md5" && digits.size() != 32) return false;
  if (algorithm == "sha256") file.sha256 = to_lower(digits);
  if (algorithm == "md5") file.md5 = to_lower(digits);
  return true;
}

LockedFile web_file(const std::string& text, std::string_view origin, std::size_t line) {
  const auto parsed = Url::try_parse(std::string_view(text).substr(0, text.find('#')));
  if (!parsed) throw_at(origin, line, fmt::format("is no URL, or has a password in it: {}", printable_url(text)));
  if (parsed->scheme() != "https" && parsed->scheme() != "http")
    throw_at(origin, line, fmt::format("is no URL of a web server: {}", printable_url(text)));
  if (!RelativePath::try_parse(parsed->file_name()) || parsed->file_name().find('/') != std::string::npos)
    throw_at(origin, line, fmt::format("names no file: {}", printable_url(text)));
  return {parsed->file_name(), parsed->text(), std::nullopt, "", "", false};
}

LockedPackage python_package(JsonObject& object, std::string_view origin) {
  LockedPackage package;
  const std::string name = object.text("name");
  const auto normal = normal_name(name);
  if (!normal) object.fail("name", fmt::format("is no package's name: {}", printable(name)));
  package.name = *normal;
  if (const auto version = object.try_text("version")) {
    const auto parsed = try_python_version(*version);
    if (!parsed) object.fail("version", fmt::format("is no version: {}", printable(*version)));
    package.version = public_text(*parsed);
  }
  package.place = place_of(origin, object.line());
  return package;
}

void check_package_count(std::size_t packages, std::size_t files, std::string_view origin) {
  if (packages > locked_packages_max) throw_at(origin, 1, fmt::format("more than {} packages", locked_packages_max));
  if (files > locked_files_max) throw_at(origin, 1, fmt::format("more than {} wheels", locked_files_max));
}

}  // namespace sabath
