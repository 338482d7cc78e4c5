#include "recipe/subscribed.h"

#include <string>
#include <system_error>

#include "base/file.h"
#include "base/json_reader.h"
#include "recipe/naming.h"
#include "sabath/error.h"
#include "sabath/url.h"

namespace sabath {

namespace fs = std::filesystem;

fs::path subscription_of(const fs::path& recipe) {
  std::error_code unknown;
  const fs::path real = fs::weakly_canonical(recipe, unknown);  // a link to it is of it, too
  fs::path place = (unknown ? fs::absolute(recipe).lexically_normal() : real).parent_path();
  for (int levels = 0; levels < 3 && place.has_relative_path(); ++levels, place = place.parent_path()) {
    if (place.parent_path().filename() == "catalogues" && try_stat(place / subscription_file)) return place;
  }
  return {};
}

Reach reach_of_subscription(const fs::path& directory) {
  const fs::path file = directory / subscription_file;
  try {
    const JsonValue document = parse_json(try_read_text(file, 1 << 20).value_or(""), file.native(), {1 << 20, 4, 1000});
    JsonObject object(document, file.native(), "a subscription");
    if (const auto noted = try_parse_reach(object.try_text("reach").value_or(""))) return *noted;
    const auto url = Url::try_parse(object.try_text("url").value_or(""));
    return url && url->scheme() == "file" ? Reach::host : url ? reach_of(*url) : Reach::global;
  } catch (const Error&) {  // `catalogue list` says what is wrong with it
    return Reach::global;
  }
}

}  // namespace sabath
