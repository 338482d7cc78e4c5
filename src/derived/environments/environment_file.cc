#include "environments/environment_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "environments/lock.h"
#include "environments/yaml_tree.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::size_t environment_text_max = 1 << 20, specs_max = 2000, channels_max = 64, spec_length_max = 500;

bool is_spec(std::string_view text) {
  const auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._+-!~=<>,*:| /").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= spec_length_max && text[0] != '-' && text[0] != '/' && text[0] != '.' &&
         std::ranges::all_of(text, fits) && !text.ends_with(".conda") && !text.ends_with(".tar.bz2") &&
         text.find('/', std::min(text.find("::"), text.size())) == std::string_view::npos &&
         (text.find('/') == std::string_view::npos || text.find("::") != std::string_view::npos);  // no local file
}

}  // namespace

bool is_conda_channel(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    const auto url = Url::try_parse(text);
    return url && (url->scheme() == "https" || url->scheme() == "http");
  }
  const auto fits = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._-/").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= 200 && text[0] != '-' && text[0] != '/' && text[0] != '.' &&
         std::ranges::all_of(text, fits) && text.find("..") == std::string_view::npos;
}

CondaEnvironment read_environment_yml(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_yaml_tree(text, origin, {.size_max = environment_text_max, .values_max = 10'000});
  JsonObject object(root, origin, "an environment");
  CondaEnvironment environment;
  for (const std::string_view key : {"name", "prefix"}) static_cast<void>(object.find(key));
  if (object.find("variables") != nullptr)
    environment.remarks.push_back(
        fmt::format("{}: its variables are not part of a lock: set them where it is run", origin));
  if (object.find("platforms") != nullptr)
    environment.remarks.push_back(fmt::format("{}: its platforms are passed over: one target is locked", origin));
  environment.channels = object.texts("channels");
  if (environment.channels.size() > channels_max)
    object.fail("channels", fmt::format("are more than {}", channels_max));
  for (const std::string& channel : environment.channels)
    if (!is_conda_channel(channel))
      object.fail("channels", fmt::format("name {}, which is no channel", printable_url(channel)));
  const JsonValue::Array* const dependencies = object.try_array("dependencies");
  if (dependencies == nullptr || dependencies->empty()) object.fail("dependencies", "are missing");
  for (const JsonValue& value : *dependencies) {
    if (value.get<JsonValue::Object>() != nullptr)
      throw_at(origin, value.line, "has packages of pip", "write them into a requirements.txt, and lock that as well");
    const std::string& spec = checked_text(value, origin, "dependencies");
    if (!is_spec(spec)) throw_at(origin, value.line, fmt::format("is no package of conda: {}", printable(spec)));
    environment.specs.push_back(spec);
  }
  if (environment.specs.size() > specs_max) throw_at(origin, 1, fmt::format("more than {} packages", specs_max));
  object.finish();
  return environment;
}

}  // namespace sabath
