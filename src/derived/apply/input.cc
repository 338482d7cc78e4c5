#include "apply/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/known_tree.h"
#include "fetch/shown_view.h"
#include "holdings/holding.h"
#include "recipe/parse.h"
#include "run/environment.h"
#include "run/guarded_process.h"
#include "run/python.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr unsigned threads_max = 1024;

[[noreturn]] void refuse_unknown(const Recipe& recipe, const std::string& id) {
  std::vector<std::string> ids;
  for (const SupportingScript& script : recipe.supporting) ids.push_back(script.id);
  for (const Builtin* one : builtins()) ids.emplace_back(one->id);
  const auto meant = nearest(id, ids);
  throw Error(FailureKind::not_found, fmt::format("{} has no script \"{}\"", recipe.name, printable(id)),
              fmt::format("{}`{} {}` lists them", meant ? fmt::format("did you mean {}? ", *meant) : "",
                          verb_text("supporting"), recipe.name));
}

fs::path source_of(const Recipe& recipe, const SupportingScript& script) {
  if (!script.source) return {};
  const fs::path directory = absolute_path(recipe.origin).parent_path() / script.source->text();
  const auto status = try_stat(directory);
  if (status && S_ISDIR(status->st_mode)) return directory;
  throw Error(FailureKind::not_found,
              fmt::format("the code of {} is not at {}", script.id, printable(directory.native())),
              "its recipe says that it is beside it");
}

// The root of the code, without what Python leaves beside it.
std::string root_of(const fs::path& directory) {
  if (directory.empty()) return "";
  constexpr std::size_t files_max = 100'000;
  ManifestBuilder builder;
  std::size_t files = 0;
  for (fs::recursive_directory_iterator at(directory), end; at != end; ++at) {
    if (at->path().filename() == "__pycache__") {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_directory() && !at->is_symlink()) continue;
    if (++files > files_max)
      throw Error(FailureKind::usage,
                  fmt::format("{} has more than {} files", printable(directory.native()), files_max));
    const auto path = RelativePath::parse(at->path().native().substr(directory.native().size() + 1));
    const Fd fd = open_file(at->path(), O_RDONLY | O_NONBLOCK);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
      throw Error(FailureKind::usage, fmt::format("{} is no regular file", printable(at->path().native())),
                  "the code of a script has files and directories only");
    FileTree tree = hash_file(fd.get(), static_cast<std::uint64_t>(status.st_size), at->path());
    builder.add_file(path, tree.digest, std::move(tree.chunks), (status.st_mode & S_IXUSR) != 0);
  }
  return Manifest::parse(builder.bytes()).root().prefixed();
}

// "python3" stands for the caller's choice, else for the first Python that has what the recipe needs.
std::string program_of(const std::string& word, const Recipe& recipe, const Environment& environment,
                       const std::stop_token& stop) {
  if (word != "python3" && word != "python") return word;
  if (const auto named = environment.get("SABATH_PYTHON")) return *named;
  if (recipe.requirements.pip.empty() && recipe.requirements.python.empty()) return word;
  // Without the recipe's variables, which may lead Python to code that the user has not been asked about yet.
  const Python python = choose_python({word, "/usr/bin/python3"}, recipe.requirements, environment.variables, stop);
  return python.program.empty() ? word : python.program;
}

// The program that a foreign script starts is a tool of its key, by content: another Python may write other bytes.
void settle_program(ChosenScript& chosen, const Recipe& recipe, const ApplyRequest& request,
                    const std::stop_token& stop) {
  VariableMap variables;
  for (const auto& [name, value] : request.environment.variables) variables[name] = value;
  add_recipe_variables(variables, recipe.env_vars);
  variables["PYTHONDONTWRITEBYTECODE"] = "1";  // the code's directory is the user's, and belongs to the key
  chosen.environment = lines(variables);
  std::string& word = chosen.step.script.argv.front();
  if (word.find('{') != std::string::npos) return;  // code of the script or of the data: another root covers it
  const std::string asked = word, program = program_of(word, recipe, request.environment, stop);
  const auto path = variables.find("PATH");
  const std::string file = find_program(program, path == variables.end() ? "" : path->second);
  if (file.empty()) {
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: no such program", printable(program)),
                "install it, load its module, or add it to PATH");
  }
  const std::string tool = fs::path(asked).filename().native();
  chosen.step.tools[is_name(tool) ? tool : "program"] = sha256_of_file(file).prefixed();
  chosen.program = file;
}

// num_threads is how the work is done, and no argument of what is made.
unsigned take_threads(std::vector<std::string>& words, const std::optional<std::uint64_t>& asked) {
  constexpr std::string_view key = "num_threads=";
  std::string text = fmt::to_string(asked.value_or(1));
  std::erase_if(words, [&](const std::string& word) {
    if (!word.starts_with(key)) return false;
    text = word.substr(key.size());
    return true;
  });
  const bool number = !text.empty() && text.size() < 5 && text.find_first_not_of("0123456789") == std::string::npos;
  const unsigned threads = number ? static_cast<unsigned>(std::stoul(text)) : 0;
  if (threads >= 1 && threads <= threads_max) return threads;
  throw Error(FailureKind::usage,
              fmt::format("num_threads \"{}\" is no number from 1 to {}", printable(text), threads_max));
}

}  // namespace

ChosenScript choose_script(const Recipe& recipe, const ApplyRequest& request, std::stop_token stop) {
  ChosenScript chosen;
  const auto own = std::ranges::find(recipe.supporting, request.script, &SupportingScript::id);
  if (own != recipe.supporting.end()) {
    chosen.step.script = *own;
  } else if (chosen.built_in = find_builtin(request.script); chosen.built_in != nullptr) {
    chosen.step.script = script_of(*chosen.built_in);
    chosen.step.tools = tools_of(*chosen.built_in);
  } else {
    refuse_unknown(recipe, request.script);
  }
  std::vector<std::string> words = request.arguments;
  chosen.threads = take_threads(words, request.threads);
  chosen.step.arguments = resolve_arguments(chosen.step.script, words);
  if (chosen.built_in != nullptr) {
    const ScriptArguments& given = chosen.step.arguments;
    (void)parse_builtin_arguments(*chosen.built_in, BuiltinArguments(given.begin(), given.end()));  // bounds of numbers
    return chosen;
  }
  chosen.source = source_of(recipe, chosen.step.script);
  chosen.step.script_root = root_of(chosen.source);
  settle_program(chosen, recipe, request, stop);
  return chosen;
}

std::optional<Sha256> bring_input(const CallingSession& caller, Store& store, const Recipe& recipe,
                                  const ApplyRequest& request, EventSink& events, std::stop_token stop) {
  const auto known = [&]() -> std::optional<Sha256> {
    const auto root = holding_of(recipe, &store).root;
    const auto manifest = root ? store.manifest(*root) : std::nullopt;
    return manifest && all_present(store, *manifest) ? root : std::nullopt;
  };
  if (request.dry_run) return holding_of(recipe, &store).root;
  if (auto root = known()) return root;
  if (request.no_fetch || caller.settings.offline) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold all of {}", recipe.name),
                fmt::format("{} {}", verb_text("fetch"), recipe.name));
  }
  FetchRequest wanted;
  wanted.add(recipe.kind, recipe.origin);
  const FetchRecord record = caller.fetch_alone(wanted, events, std::move(stop));
  for (const AssetRecord& asset : record.assets) {
    if (asset.failures.empty()) continue;
    Failure failure = asset.failures.front().failure;
    failure.message = fmt::format("cannot fetch {}: {}", asset.name, failure.message);
    throw Error(failure);
  }
  if (auto root = known()) return root;
  throw Error(FailureKind::offline, fmt::format("{} was fetched and is not all there", recipe.name), "run it again");
}

fs::path show_input(Store& store, const Manifest& manifest, const std::string& name, std::stop_token stop) {
  if (store.view_present(manifest)) return store.view_path(manifest.root());
  SpaceGuard space(store, "apply " + name, {}, std::move(stop));
  return show_view(store, space, manifest, name);
}

}  // namespace sabath
