#include "convert/sources.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "apply/input.h"
#include "base/companion.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "formats/find_code.h"
#include "formats/onnx.h"
#include "formats/zip.h"
#include "harness/consent.h"
#include "holdings/holding.h"
#include "recipe/parse.h"
#include "run/commands.h"
#include "run/guarded_process.h"
#include "run/python.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t models_max = 16, name_size_max = 64, loads_shown_max = 20;

// A file's name as the name of a model: letters, digits, . _ -.
std::string name_of(const fs::path& file) {
  std::string name = file.stem();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
  }
  if (name.size() > name_size_max) name.resize(name_size_max);
  if (name.empty() || std::isalnum(static_cast<unsigned char>(name.front())) == 0) name.insert(0, "model");
  return name;
}

bool has_ending(const std::string& path, const std::vector<std::string>& endings) {
  return std::ranges::any_of(endings, [&](const std::string& ending) { return path.ends_with(ending); });
}

bool is_file(const fs::path& path) {
  const auto status = try_stat(path);
  return status && S_ISREG(status->st_mode);
}

// A TorchScript archive: torch.jit reads it, which runs no Python.
bool is_torchscript(const fs::path& file) {
  try {
    const ZipArchive archive(file);
    return std::ranges::any_of(archive.members(),
                               [](const ZipMember& member) { return member.name.ends_with("/constants.pkl"); });
  } catch (const Error&) {
    return false;  // the engine says what it is
  }
}

std::vector<std::string> what_loading_runs(const fs::path& file) {
  const std::string ending = file.extension();
  if (ending == ".h5" || ending == ".hdf5") return {"a model in HDF5, whose layers may hold code"};
  std::vector<std::string> loads;
  for (const CodeInFile& code : find_code(file)) {
    if (!code.facts.executes && code.facts.complete()) continue;
    std::string line = code.where.empty() ? code.form : fmt::format("{} {}", code.form, code.where);
    for (std::size_t i = 0; i < code.facts.imports.size() && i < loads_shown_max; ++i)
      line += (i == 0 ? ": " : ", ") + code.facts.imports[i];
    if (!code.facts.complete()) line += "; not looked at to its end: " + code.facts.trouble;
    loads.push_back(std::move(line));
  }
  return loads;
}

std::string package_of(std::string_view need) {
  const auto end = need.find_first_of("<>=!~[ ");
  return std::string(need.substr(0, end));
}

// The package that brings it, and its version: tensorflow is also brought by tensorflow_cpu.
std::pair<std::string, std::string> installed(const Python& python, const std::string& wanted) {
  const auto plain = [](std::string name) {
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  };
  std::pair<std::string, std::string> nearest{wanted, "unknown"};
  for (const auto& [name, version] : python.packages) {
    if (plain(name) == plain(wanted)) return {name, version};
    if (plain(name).starts_with(plain(wanted) + "_") && nearest.second == "unknown") nearest = {name, version};
  }
  return nearest;
}

void settle_program(ConversionSource& source, const ConvertRequest& request, const std::stop_token& stop) {
  VariableMap variables = engine_variables(request.environment);
  std::string word = source.engine.argv.front();
  const std::string path = variables.contains("PATH") ? variables.at("PATH") : "";
  if (word != "python3" && word != "python") {
    source.program = find_program(word, path);
    if (source.program.empty() || !try_stat(source.program))
      throw Error(FailureKind::unavailable,
                  fmt::format("the engine {} starts {}, which is not here", source.engine.name, printable(word)));
    source.tools[fs::path(word).filename()] = sha256_of_file(source.program).prefixed();
    return;
  }
  std::vector<std::string> candidates;
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto value = request.environment.get(name)) candidates.push_back(*value + "/bin/python");
  }
  if (const auto named = request.environment.get("SABATH_PYTHON")) candidates.insert(candidates.begin(), *named);
  candidates.insert(candidates.end(), {word, "/usr/bin/python3"});
  Requirements wanted;
  wanted.pip = source.engine.needs;
  const Python python = choose_python(candidates, wanted, variables, stop);
  if (python.program.empty() || !python.missing.empty()) {
    const std::string lacks = python.program.empty() ? "Python" : fmt::format("{}", fmt::join(python.missing, ", "));
    throw Error(
        FailureKind::unavailable,
        fmt::format("the engine {} needs {}, which no Python here has", source.engine.name, printable(lacks)),
        "`pip install` it in a virtual environment and activate that, or name a Python that has it in SABATH_PYTHON");
  }
  source.program = python.program;
  source.tools["python"] = python.version;
  for (const std::string& need : source.engine.needs) {
    const auto [package, version] = installed(python, package_of(need));
    source.tools[package] = version;
  }
}

class SourceFinder {
 public:
  SourceFinder(const CallingSession& caller, Store& store, const ConvertRequest& request, EventSink& events,
               const std::stop_token& stop)
      : caller_(caller), settings_(caller.settings), store_(store), request_(request), events_(events), stop_(stop) {}

  ConversionSource find(const ConvertModel& asked) {
    ConversionSource source;
    source.asked = asked;
    source.engine = find_engine(asked.from.empty() && request_.merge ? "merge" : asked.from, request_.environment,
                                find_companion(settings_.program));
    if (is_file(asked.model)) {
      source.file = absolute_path(asked.model);
    } else {
      find_in_asset(source);
    }
    source.name = name_of(source.file);
    for (int i = 2; !names_.insert(source.name).second; ++i)
      source.name = fmt::format("{}-{}", name_of(source.file), i);
    source.digest = sha256_of_file(source.file);
    find_arrays(source);
    find_code(source);
    find_beside(source);
    settle_program(source, request_, stop_);
    return source;
  }

 private:
  void find_in_asset(ConversionSource& source) {
    const std::string& asked = source.asked.model;
    const auto colon = asked.find(':');
    const std::string asset = asked.substr(0, colon);
    if (!is_name(asset))
      throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(asked, 4096)));
    const Catalogue catalogue = make_catalogue(settings_);
    source.recipe = catalogue.find(asset, std::nullopt);
    ApplyRequest wanted;
    source.root = bring_input(caller_, store_, *source.recipe, wanted, events_, stop_);
    const auto manifest = source.root ? store_.manifest(*source.root) : std::nullopt;
    if (!manifest) throw Error(FailureKind::offline, fmt::format("the store does not hold all of {}", asset));
    std::string path = colon == asked.npos ? "" : asked.substr(colon + 1);
    std::vector<std::string> fitting;
    manifest->for_each([&](const Entry& entry) {
      const bool fits = path.empty() ? has_ending(entry.path.text(), source.engine.endings) : entry.path.text() == path;
      if (entry.is_file() && fits) fitting.push_back(entry.path.text());
    });
    if (fitting.size() != 1) {
      throw Error(FailureKind::usage,
                  fitting.empty() ? fmt::format("{} has no file that ends with {}", printable(asked, 4096),
                                                fmt::join(source.engine.endings, ", "))
                                  : fmt::format("{} has several models: {}", asset,
                                                printable(fmt::format("{}", fmt::join(fitting, ", ")), 4096)),
                  "say NAME:PATH");
    }
    source.file = show_input(store_, *manifest, asset, stop_) / fitting.front();
  }

  static void find_arrays(ConversionSource& source) {
    for (const auto& [files, digests] :
         {std::pair{&source.asked.dummy, &source.dummy}, {&source.asked.data, &source.data}}) {
      for (const fs::path& file : *files) {
        if (!is_file(file))
          throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(file.native(), 4096)));
        if (file.extension() != ".npy")
          throw Error(FailureKind::usage, fmt::format("{} is no .npy file", printable(file.native(), 4096)),
                      "numpy.save writes one");
        digests->push_back(sha256_of_file(file));
      }
    }
  }

  static void find_code(ConversionSource& source) {
    const std::string& code = source.asked.code;
    if (code.empty()) {
      source.is_torchscript = is_torchscript(source.file);
      if (!source.is_torchscript) source.loads = what_loading_runs(source.file);
      return;
    }
    const auto colon = code.rfind(':');
    source.code = code.substr(0, colon);
    source.factory = colon == code.npos ? "" : code.substr(colon + 1);
    if (source.factory.empty() || !is_file(source.code)) {
      throw Error(source.factory.empty() ? FailureKind::usage : FailureKind::not_found,
                  source.factory.empty() ? fmt::format("{} names no class or function", printable(code, 4096))
                                         : fmt::format("there is no file {}", printable(source.code.native(), 4096)),
                  "say FILE.py:NAME; NAME is called without arguments and gives the model");
    }
    source.code = absolute_path(source.code);
    source.code_digest = sha256_of_file(source.code);
  }

  static void add_beside(ConversionSource& source, const fs::path& top, const fs::path& file) {
    const auto status = try_stat(file);
    if (!status || !S_ISREG(status->st_mode)) return;  // its reader says that it is not there
    source.beside[file.lexically_relative(top).native()] = sha256_of_file(file).prefixed();
  }

  // A model is another one when these change: weights that a graph names, and modules that its code may import.
  static void find_beside(ConversionSource& source) {
    constexpr std::size_t entries_max = 10'000;
    const fs::path top = source.file.parent_path();
    if (source.file.extension() == ".onnx") {
      for (const std::string& name : read_onnx(source.file).graph.external_data) {
        if (const auto path = RelativePath::try_parse(name)) add_beside(source, top, top / path->text());
      }
    }
    if (source.code.empty()) return;
    const fs::path project = source.code.parent_path();
    std::error_code error;
    std::size_t seen = 0;
    fs::recursive_directory_iterator it(project, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && it != end && ++seen < entries_max; it.increment(error)) {
      if (it->path().filename().native().starts_with('.')) it.disable_recursion_pending();
      if (it->path().extension() == ".py" && it->path() != source.code) add_beside(source, project, it->path());
    }
  }

  const CallingSession& caller_;
  const SessionSettings& settings_;
  Store& store_;
  const ConvertRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  std::set<std::string> names_;
};

}  // namespace

std::map<std::string, std::string> engine_variables(const Environment& environment) {
  std::map<std::string, std::string> variables = environment.variables;
  variables["PYTHONDONTWRITEBYTECODE"] = "1";
  variables["CUDA_VISIBLE_DEVICES"] = "";
  return variables;
}

std::vector<ConversionSource> find_sources(const CallingSession& caller, Store& store, const ConvertRequest& request,
                                           EventSink& events, const std::stop_token& stop) {
  if (request.models.empty() || request.models.size() > models_max) {
    throw Error(FailureKind::usage,
                fmt::format("{}: 1 to {} become one asset", counted(request.models.size(), "model"), models_max));
  }
  SourceFinder finder(caller, store, request, events, stop);
  std::vector<ConversionSource> sources;
  for (const ConvertModel& model : request.models) sources.push_back(finder.find(model));
  return sources;
}

bool ask_conversion_consent(const SessionSettings& settings, const ConvertRequest& request,
                            const ConversionSource& source) {
  const bool brings_code = !source.code.empty();
  if (!brings_code && source.loads.empty()) return false;
  std::vector<std::string> commands;
  if (brings_code) commands.push_back(fmt::format("import {}: {}()", source.code.native(), source.factory));
  for (const std::string& line : source.loads)
    commands.push_back(fmt::format("load {}: {}", source.file.native(), line));
  AssetCode code;
  if (source.recipe && !brings_code) {
    RunAsset tree;
    tree.manifest = source.root->prefixed();
    code = code_of(settings, *source.recipe, {Step{.argv = {"load", source.file.filename()}}}, tree);
  } else {
    const fs::path& file = brings_code ? source.code : source.file;
    code.name = source.name;
    code.recipe = file.native();
    code.recipe_of = ownership_of(file);
    code.commit = (brings_code ? *source.code_digest : source.digest).prefixed();
    // A pickle that a user downloaded is his file, and not his code.
    code.fixed = brings_code && code.recipe_of == Ownership::own;
  }
  code.commands = commands;
  code.digest = digest_of(std::vector<std::string>{code.commit, source.engine.name, source.factory});
  TrustPolicy policy{.said = request.trust, .ask = {}, .remedy = {}};
  if (request.ask) policy.ask = [&](const AssetCode& about) { return request.ask(text_of(about)); };
  policy.remedy = request.remedy.empty() ? fmt::format("{} {}", verb_text("convert"), shell_line({source.asked.model}))
                                         : request.remedy;
  policy.remedy += " " + option_text("trust");
  static_cast<void>(approve(code, trust_registry(request.environment), policy));
  return true;
}

std::string conversion_key_text(const ConvertRequest& request, const std::vector<ConversionSource>& sources) {
  using Json = nlohmann::json;  // objects sorted by key
  const auto digests = [](const std::vector<Sha256>& all) {
    Json json = Json::array();
    for (const Sha256& digest : all) json.push_back(digest.prefixed());
    return json;
  };
  Json models = Json::array();
  for (const ConversionSource& source : sources) {
    models.push_back({{"name", source.name},
                      {"source", source.digest.prefixed()},
                      {"code", source.code_digest ? Json(source.code_digest->prefixed()) : Json()},
                      {"factory", source.factory},
                      {"beside", source.beside},
                      {"engine", source.engine.digest.prefixed()},
                      {"from", source.engine.name},
                      {"tools", source.tools},
                      {"dummy", digests(source.dummy)},
                      {"data", digests(source.data)},
                      {"samples", source.asked.samples},
                      {"opset", request.opset.value_or(source.engine.opset)},
                      {"input_names", source.asked.input_names},
                      {"output_names", source.asked.output_names}});
  }
  Json json = {{"schema", 2},  // 2: each output is judged by its own spread
               {"convert", std::move(models)},
               {"seed", request.seed},
               {"fixed_batch", request.fixed_batch},
               {"absolute", request.absolute ? Json(*request.absolute) : Json()},
               {"relative", request.relative ? Json(*request.relative) : Json()},
               {"precision", request.precision},
               {"stochastic", request.stochastic}};
  if (request.merge) json["merge"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sabath
