#include "convert/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "base/ownership.h"
#include "base/text.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t engine_bytes_max = 1 << 20;
constexpr std::size_t engine_files_max = 1000, words_max = 100;

struct EngineDirectory {
  fs::path path;
  bool shipped = false;
};

std::vector<EngineDirectory> engine_directories(const Environment& environment, const fs::path& program) {
  std::vector<EngineDirectory> directories;
  const fs::path own = environment.base_directory("XDG_CONFIG_HOME", ".config");
  if (!own.empty()) directories.push_back({own / "sabath/engines", false});
  const fs::path bin = program.parent_path();
  directories.push_back({(bin / "../share/sabath/engines").lexically_normal(), true});
  if (bin.parent_path().parent_path().filename() == "build")
    directories.push_back({(bin / "../../../etc/engines").lexically_normal(), true});
  return directories;
}

std::vector<fs::path> files_of(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end && files.size() < engine_files_max;
       at.increment(error)) {
    if (at->path().native().ends_with(ending)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::vector<EngineDirectory>& directories) {
  std::vector<std::string> names;
  for (const EngineDirectory& directory : directories) {
    for (const fs::path& file : files_of(directory.path, ".json")) names.push_back(file.stem());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto meant = nearest(name, names);
  throw Error(FailureKind::not_found,
              fmt::format("there is no engine \"{}\"{}", printable(name),
                          meant ? fmt::format(" (did you mean {}?)", *meant) : ""),
              fmt::format("there are {}", fmt::join(names, ", ")));
}

std::optional<TensorType> precision_of(JsonObject& object) {
  const auto text = object.try_text("precision");
  if (!text) return std::nullopt;
  for (const TensorType type : {TensorType::float16, TensorType::float32, TensorType::float64}) {
    if (*text == name(type)) return type;
  }
  object.fail("precision", "is none of float16, float32 and float64");
}

void check_words(const JsonObject& object, std::string_view key, const std::vector<std::string>& words) {
  if (words.size() > words_max) object.fail(key, fmt::format("has more than {} words", words_max));
}

}  // namespace

ConversionEngine find_engine(const std::string& name, const Environment& environment, const fs::path& program) {
  const auto directories = engine_directories(environment, program);
  if (!is_name(name)) refuse_unknown(name, directories);
  for (const auto& [directory, shipped] : directories) {
    std::error_code absent;
    const fs::path file = fs::canonical(directory / (name + ".json"), absent);  // what is judged is what is read
    if (absent) continue;
    if (!shipped && ownership_of(file) == Ownership::others) {
      throw Error(FailureKind::access,
                  fmt::format("others may write {}, which says what would run", printable(file.native(), 4096)),
                  "make it, and its directories, yours alone");
    }
    const auto text = try_read_text(file, engine_bytes_max);
    if (!text) continue;
    const JsonValue value = parse_json(*text, file.native());
    JsonObject object(value, file.native(), "an engine");
    ConversionEngine engine;
    if (object.try_uint("schema") != 1) object.fail("schema", "must be 1");
    engine.name = object.text("name");
    if (engine.name != name) object.fail("name", fmt::format("is not that of the file, \"{}\"", name));
    (void)object.try_text("description");
    engine.argv = object.some_texts("argv");
    check_words(object, "argv", engine.argv);
    engine.needs = object.texts("needs");
    check_words(object, "needs", engine.needs);
    engine.endings = object.texts("endings");
    (void)object.texts("tried");
    engine.opset = object.try_uint("opset").value_or(0);
    engine.precision = precision_of(object);
    object.finish();
    engine.directory = directory;
    std::string all = *text;
    for (const fs::path& code : files_of(directory, ".py"))
      all += fmt::format("\n{} {}", code.filename().native(),
                         sha256(try_read_text(code, engine_bytes_max).value_or("")).hex());
    engine.digest = sha256(all);
    return engine;
  }
  refuse_unknown(name, directories);
}

}  // namespace sabath
