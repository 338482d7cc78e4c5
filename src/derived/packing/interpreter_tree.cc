#include "packing/interpreter_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "packing/compile_modules.h"
#include "packing/rewritten_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

ProgramAnswer start_interpreter(Programs& programs, const fs::path& top, const PrefixSource& source,
                                std::vector<std::string> argv) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : programs.environment().variables) variables[name] = "";
  for (const char* name : {"PYTHONHOME", "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONSTARTUP", "PYTHONWARNINGS",
                           "PYTHONEXECUTABLE", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"})
    variables[name] = "";
  variables["PATH"] = "/usr/bin:/bin";
  variables["LC_ALL"] = "C";
  variables["PYTHONHASHSEED"] = "0";
  argv.insert(argv.begin(), (top / "bin" / source.interpreter.filename()).native());
  return programs.ask(std::move(argv), variables);
}

[[noreturn]] void refuse_to_start(const std::string& why) {
  throw Error(FailureKind::access, fmt::format("the interpreter is not started: {}", why),
              "take one that only you, root or a trusted owner can write");
}

}  // namespace

bool is_left_out_of_library(const PrefixSource& source, const std::string& path) {
  if (path.substr(path.rfind('/') + 1) == "__pycache__") return true;
  const std::string below = library_of(source) + "/";
  if (!path.starts_with(below)) return false;
  const std::string_view rest = std::string_view(path).substr(below.size());
  return rest == "test" || rest == "idlelib" || rest == "turtledemo" ||
         (rest.starts_with("config-") && rest.find('/') == std::string_view::npos);
}

void refuse_exchangeable(Programs& programs, const PrefixSource& source) {
  std::string against;
  if (programs.find(source.interpreter.native(), against).empty()) refuse_to_start(against);
  const TrustedOwners& owners = programs.owners();
  const fs::path folder = source.base / library_of(source);
  const auto refuse = [](const fs::path& file, const std::string& why) {
    refuse_to_start(fmt::format("{}: {}", printable(file.native(), 1000), why));
  };
  if (const auto why = owners.why_not(folder)) refuse(folder, *why);
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at.depth() == 0 && at->path().filename() == "site-packages") at.disable_recursion_pending();
    if (at->is_symlink()) continue;
    if (const auto why = owners.why_not_itself(at->path())) refuse(at->path(), *why);
  }
  if (error) throw_errno("list", folder, error.value());
  for (fs::directory_iterator at(source.base / "lib", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().native().find(".so") == std::string::npos) continue;
    if (const auto why = owners.why_not(at->path())) refuse(at->path(), *why);
  }
}

void copy_interpreter(TreeCopy& copying, const PrefixSource& source) {
  const auto left_out = [&](const std::string& path) {
    return is_left_out_of_library(source, path) || path == library_of(source) + "/site-packages";
  };
  const auto take = [&](const std::string& path) { copying.add(source.base, path, left_out); };
  take("bin/" + source.interpreter.filename().native());
  if (source.interpreter.filename() != source.python + "-config") take("bin/" + source.python + "-config");
  take("include/" + source.python);
  take("include/" + source.python + "m");
  take("share/terminfo");
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(source.base / "lib", error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  const bool own = source.base != "/usr/local";
  for (const std::string& name : names) {
    const bool is_library = name.find(".so") != std::string::npos && (own || name.starts_with("libpython"));
    const bool of_tcl = own && (name.starts_with("tcl") || name.starts_with("tk") || name.starts_with("itcl") ||
                                name.starts_with("thread"));
    if (name == source.python || is_library || of_tcl) take("lib/" + name);
  }
  for (const std::string& name :
       {source.python, source.python + "-embed", std::string("python3"), std::string("python3-embed")})
    take("lib/pkgconfig/" + name + ".pc");
}

void link_interpreter_names(const fs::path& top, const PrefixSource& source) {
  if (!try_lstat(top / "bin" / source.interpreter.filename()))
    throw Error(FailureKind::invalid, fmt::format("{} was not copied", printable(source.interpreter.native(), 1000)));
  for (const std::string& name : {source.python, std::string("python3"), std::string("python")}) {
    if (try_lstat(top / "bin" / name)) continue;
    fs::create_symlink(source.interpreter.filename(), top / "bin" / name);
  }
}

void write_landmark(const fs::path& top, const PrefixSource& source) {
  const fs::path file = top / "lib" / fmt::format("python3{}.zip", source.python.substr(8));
  if (!try_lstat(file)) write_new_file(file, std::string("PK\5\6") + std::string(18, '\0'));
}

InterpreterFacts ask_interpreter(Programs& programs, const fs::path& top, const PrefixSource& source) {
  const ProgramAnswer answer = start_interpreter(programs, top, source,
                                                 {"-I", "-S", "-B", "-c",
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
    if (!fs::equivalent(place, top, error) || error)
      throw Error(FailureKind::invalid, fmt::format("the packed interpreter still uses {}", printable(place, 1000)),
                  "take a self-built or a standalone interpreter");
  InterpreterFacts facts{lines[0], lines[1], lines[2], lines[3]};
  if (!facts.python.starts_with(source.python.substr(6) + "."))
    throw Error(FailureKind::invalid,
                fmt::format("the interpreter is {}, and its library is of {}", printable(facts.python), source.python));
  return facts;
}

std::string compiled_path(const std::string& module, const InterpreterFacts& facts) {
  const std::size_t name = module.rfind('/') + 1;
  return fmt::format("{}__pycache__/{}.{}.pyc", module.substr(0, name), module.substr(name, module.size() - name - 3),
                     facts.implementation);
}

CompiledModules compile_modules(Programs& programs, const fs::path& top, const PrefixSource& source,
                                const InterpreterFacts& facts, const std::vector<std::string>& modules,
                                const fs::path& list) {
  if (modules.empty()) return {};
  std::string names;
  for (const std::string& module : modules) names += module + '\0';
  write_new_file(list, names);
  const ProgramAnswer answer = start_interpreter(
      programs, top, source,
      {"-S", "-s", "-B", "-W", "ignore", "-c", std::string(compile_program()), top.native(), list.native()});
  fs::remove(list);
  if (!answer.came) throw Error(FailureKind::command, fmt::format("compiling failed: {}", answer.why));
  CompiledModules done;
  for (const std::string& module : modules)
    ++(try_lstat(top / compiled_path(module, facts)) ? done.compiled : done.not_compiled);
  return done;
}

}  // namespace sabath
