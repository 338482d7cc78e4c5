#include "packing/pack_environment.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "packing/compile_modules.h"
#include "packing/mend_libraries.h"
#include "packing/mend_scripts.h"
#include "packing/mend_sysconfig.h"
#include "packing/prefix_source.h"
#include "packing/rewritten_file.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mentions_told = 5;
constexpr std::uint64_t searched_max = 1 << 20;

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_cache(const std::string& path) { return last_name(path) == "__pycache__"; }

bool is_interpreter_name(const std::string& name) {
  return name == "python" || name == "python3" ||
         (name.starts_with("python3.") && try_whole_number(std::string_view(name).substr(8)));
}

class Packing {
 public:
  Packing(Programs& programs, const PackOrder& order)
      : programs_(programs), order_(order), source_(prefix_source(order.prefix)) {}

  PackedTree run() {
    refuse_store_inside();
    refuse_others();
    refuse_others_in_library();
    tree_.form = source_.is_venv ? "venv" : "prefix";
    places_ = {source_.root, source_.given};
    if (source_.base != source_.root) places_.push_back(source_.base);
    copy();
    mend();
    ask_interpreter();
    compile();
    tell_mentions();
    write_note();
    return std::move(tree_);
  }

 private:
  // The interpreter is started, so no other user may have written it.
  void refuse_others() {
    std::string why;
    if (!programs_.find(source_.interpreter.native(), why).empty()) return;
    throw Error(FailureKind::access, fmt::format("the interpreter is not started: {}", why),
                "take one that only you, root or a trusted owner can write");
  }

  [[nodiscard]] std::string library() const { return "lib/" + source_.python; }

  [[nodiscard]] bool is_left_out(const std::string& path) const {
    if (is_cache(path)) return true;
    const std::string below = library() + "/";
    if (!path.starts_with(below)) return false;
    const std::string_view rest = std::string_view(path).substr(below.size());
    return rest == "test" || rest == "idlelib" || rest == "turtledemo" ||
           (rest.starts_with("config-") && rest.find('/') == std::string_view::npos);
  }

  // Of a caller's own tree: all but what is made anew. Of a venv: also without its link to the interpreter.
  [[nodiscard]] bool is_left_out_of_root(const std::string& path) const {
    if (is_left_out(path) || path == "pyvenv.cfg" || path == environment_note_name) return true;
    if (path.starts_with("lib/") && path.ends_with(".a") && path.find('/', 4) == std::string::npos) return true;
    if (!path.starts_with("bin/")) return source_.is_venv && path == "lib64";
    const std::string name = path.substr(4);
    if (name.starts_with("activate") || name == "Activate.ps1" || name == "deactivate" || name == "deactivate.bat" ||
        name == "pydoc.bat")
      return true;
    if (!source_.is_venv) return name.starts_with("idle3") || name == "python" || name == "python3";
    return is_interpreter_name(name) || name == "pythonw" || name == "activate_this.py";
  }

  // Its library runs, too, when it starts.
  void refuse_others_in_library() {
    const TrustedOwners& owners = programs_.owners();
    const fs::path folder = source_.base / library();
    const auto refuse = [](const fs::path& file, const std::string& why) {
      throw Error(FailureKind::access,
                  fmt::format("the interpreter is not started: {}: {}", printable(file.native(), 1000), why),
                  "take one that only you, root or a trusted owner can write");
    };
    if (const auto why = owners.why_not(folder)) refuse(folder, *why);
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at.depth() == 0 && at->path().filename() == "site-packages") at.disable_recursion_pending();
      if (at->is_symlink()) continue;
      if (const auto why = owners.why_not_itself(at->path())) refuse(at->path(), *why);
    }
    if (error) throw_errno("list", folder, error.value());
    for (fs::directory_iterator at(source_.base / "lib", error), end; !error && at != end; at.increment(error)) {
      if (at->path().filename().native().find(".so") == std::string::npos) continue;
      if (const auto why = owners.why_not(at->path())) refuse(at->path(), *why);
    }
  }

  // The tree must not be copied into itself.
  void refuse_store_inside() {
    for (const fs::path& place : {source_.root, source_.base})
      if (is_below(order_.to, place))
        throw Error(FailureKind::usage, fmt::format("the store lies in {}", printable(place.native(), 1000)),
                    "take a store elsewhere");
  }

  void copy() {
    TreeCopy copying(order_.to, places_, order_.stop);
    if (source_.is_venv) copy_base(copying);
    if (try_lstat(source_.root / "lib64") && source_.is_venv && !fs::is_symlink(source_.root / "lib64"))
      throw Error(FailureKind::invalid, "the environment has both lib and lib64",
                  "make it with an interpreter that keeps all in lib");
    copying.add(source_.root, "", [this](const std::string& path) { return is_left_out_of_root(path); });
    if (!try_lstat(order_.to / "bin" / source_.interpreter.filename()))
      throw Error(FailureKind::invalid,
                  fmt::format("{} was not copied", printable(source_.interpreter.native(), 1000)));
    for (const std::string& name : {source_.python, std::string("python3"), std::string("python")}) {
      if (try_lstat(order_.to / "bin" / name)) continue;
      fs::create_symlink(source_.interpreter.filename(), order_.to / "bin" / name);
    }
    copying.finish();
  }

  // What belongs to an interpreter, of a prefix that may hold more.
  void copy_base(TreeCopy& copying) {
    const auto left_out = [this](const std::string& path) {
      return is_left_out(path) || path == library() + "/site-packages";
    };
    const auto take = [&](const std::string& path) { copying.add(source_.base, path, left_out); };
    take("bin/" + source_.interpreter.filename().native());
    if (source_.interpreter.filename() != source_.python + "-config") take("bin/" + source_.python + "-config");
    take("include/" + source_.python);
    take("include/" + source_.python + "m");
    take("share/terminfo");
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(source_.base / "lib", error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename());
    const bool own = source_.base != "/usr/local";
    for (const std::string& name : names) {
      const bool is_library = name.find(".so") != std::string::npos && (own || name.starts_with("libpython"));
      const bool of_tcl = own && (name.starts_with("tcl") || name.starts_with("tk") || name.starts_with("itcl") ||
                                  name.starts_with("thread"));
      if (name == source_.python || is_library || of_tcl) take("lib/" + name);
    }
    for (const std::string& name :
         {source_.python, source_.python + "-embed", std::string("python3"), std::string("python3-embed")})
      take("lib/pkgconfig/" + name + ".pc");
  }

  void mend() {
    const PackagesOrder packages{order_.to, library() + "/site-packages", places_, order_.accepted};
    make_directories(order_.to / packages.below);
    MendedPackages found = mend_packages(packages);
    tree_.packages = std::move(found.packages);
    MendedScripts scripts = mend_scripts(order_.to);
    write_activation(order_.to);
    write_landmark();
    MendedLibraries libraries = mend_libraries(
        programs_, {order_.to, order_.to / "bin" / source_.interpreter.filename(), places_, order_.accepted});
    std::set<std::string> changed = mend_sysconfig(order_.to, source_.python);
    tree_.scripts_changed = scripts.changed.size();
    tree_.libraries_changed = libraries.changed.size();
    tree_.machine = libraries.machine;
    tree_.glibc = libraries.glibc;
    tree_.of_system = libraries.of_system;
    tree_.of_nodes = libraries.of_nodes;
    for (auto* remarks : {&found.remarks, &scripts.remarks, &libraries.remarks})
      tree_.remarks.insert(tree_.remarks.end(), remarks->begin(), remarks->end());
    changed.merge(scripts.changed);
    changed.merge(libraries.changed);
    mend_installed_records(packages, changed);
  }

  // CPython with a library of its own looks for this file in each directory above it first, also in /tmp, and takes the
  // standard library from where it is. An empty archive here ends the search.
  void write_landmark() {
    const fs::path file = order_.to / "lib" / fmt::format("python3{}.zip", source_.python.substr(8));
    if (!try_lstat(file)) write_new_file(file, std::string("PK\5\6") + std::string(18, '\0'));
  }

  // An environment of nothing but this, so that what a user has set changes no byte.
  ProgramAnswer start(std::vector<std::string> argv) {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : programs_.environment().variables) variables[name] = "";
    for (const char* name : {"PYTHONHOME", "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONSTARTUP", "PYTHONWARNINGS",
                             "PYTHONEXECUTABLE", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})
      variables[name] = "";
    variables["PATH"] = "/usr/bin:/bin";
    variables["LC_ALL"] = "C";
    variables["PYTHONHASHSEED"] = "0";
    argv.insert(argv.begin(), (order_.to / "bin" / source_.interpreter.filename()).native());
    return programs_.ask(std::move(argv), variables);
  }

  void ask_interpreter() {
    const ProgramAnswer answer = start({"-I", "-S", "-B", "-c",
                                        "import sys, sysconfig\n"
                                        "print('%d.%d.%d' % sys.version_info[:3])\n"
                                        "print(sys.implementation.cache_tag or '')\n"
                                        "print(sysconfig.get_config_var('SOABI') or '')\n"
                                        "print(sysconfig.get_platform())\n"
                                        "print(sys.prefix)\nprint(sys.exec_prefix)\n"});
    std::vector<std::string> lines = parts_between(answer.out, '\n', 10);
    if (!answer.came || lines.size() != 6)
      throw Error(
          FailureKind::command,
          fmt::format("the packed interpreter does not start: {}", answer.came ? "it says too little" : answer.why),
          "see that it starts without LD_LIBRARY_PATH, and that its store allows programs (noexec)");
    std::error_code error;
    for (const std::string& place : {lines[4], lines[5]})
      if (!fs::equivalent(place, order_.to, error) || error)
        throw Error(FailureKind::invalid, fmt::format("the packed interpreter still uses {}", printable(place, 1000)),
                    "take a self-built or a standalone interpreter");
    tree_.python = lines[0];
    tree_.implementation = lines[1];
    tree_.abi = lines[2];
    tree_.platform = lines[3];
    if (!tree_.python.starts_with(source_.python.substr(6) + "."))
      throw Error(FailureKind::invalid, fmt::format("the interpreter is {}, and its library is of {}",
                                                    printable(tree_.python), source_.python));
    if (try_whole_number(std::string_view(source_.python).substr(8)).value_or(0) < 9)
      throw Error(FailureKind::invalid, fmt::format("{} cannot compile for a tree that moves", source_.python),
                  "take Python 3.9 or newer");
  }

  // .pyc that stay valid when files get a new time, and that name no place. The compiler imports the standard library
  // alone.
  void compile() {
    const fs::path below = order_.to / library();
    const ProgramAnswer answer =
        start({"-S", "-s", "-B", "-W", "ignore", "-c", std::string(compile_program()), order_.to.native(), library()});
    const std::string ending = "." + tree_.implementation + ".pyc";
    for_each_packed_file(order_.to, [&](const std::string& path) {
      if (!path.ends_with(".py") || !path.starts_with(library() + "/")) return;
      const fs::path file = order_.to / path;
      const auto there = try_lstat(file.parent_path() / "__pycache__" / (file.stem().native() + ending));
      ++(there ? tree_.compiled : tree_.not_compiled);
    });
    if (!answer.came || !try_lstat(below / "__pycache__" / ("os" + ending)))
      throw Error(FailureKind::command, fmt::format("compiling failed: {}", answer.why));
  }

  void tell_mentions() {
    std::vector<std::string> found;
    for_each_packed_file(order_.to, [&](const std::string& path) {
      if (path.ends_with(".pyc") || path.ends_with(".a")) return;
      const auto status = try_lstat(order_.to / path);
      if (!status || static_cast<std::uint64_t>(status->st_size) > searched_max) return;
      const std::string text = try_read_text(order_.to / path, searched_max).value_or("");
      if (text.starts_with("\x7f"
                           "ELF"))
        return;
      if (text.find(source_.root.native() + "/") != std::string::npos) found.push_back(path);
    });
    if (found.empty()) return;
    const std::size_t all = found.size();
    found.resize(std::min(all, mentions_told));
    tree_.remarks.push_back(fmt::format("{} files still name the old place: {}", all,
                                        printable(fmt::format("{}", fmt::join(found, ", ")), 1000)));
  }

  void write_note() {
    using Json = nlohmann::ordered_json;
    Json packages = Json::array();
    for (const FoundPackage& each : tree_.packages)
      packages.push_back({{"name", each.name}, {"version", each.version}});
    const Json note = {{"schema", 1},
                       {"kind", "environment"},
                       {"made_of", tree_.form},
                       {"python", tree_.python},
                       {"implementation", tree_.implementation},
                       {"abi", tree_.abi},
                       {"platform", tree_.platform},
                       {"machine", tree_.machine},
                       {"glibc", tree_.glibc.empty() ? Json(nullptr) : Json(tree_.glibc)},
                       {"system_libraries", tree_.of_system},
                       {"node_libraries", tree_.of_nodes},
                       {"packages", packages}};
    write_new_file(order_.to / environment_note_name, note.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  Programs& programs_;
  const PackOrder& order_;
  const PrefixSource source_;
  std::vector<fs::path> places_;
  PackedTree tree_;
};

}  // namespace

PackedTree pack_environment(Programs& programs, const PackOrder& order) { return Packing(programs, order).run(); }

}  // namespace sabath
