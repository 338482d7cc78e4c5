#include "packing/mend_scripts.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "packing/rewritten_file.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shebang_max = 127;
constexpr std::string_view by_shell = "'''exec' ", behind = "' '''\n";
constexpr std::array<std::string_view, 6> system_places = {"/bin",      "/usr/bin",       "/sbin",
                                                           "/usr/sbin", "/usr/local/bin", "/lib"};

std::string_view cut_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_python(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? program : program.substr(slash + 1);
  return name.starts_with("python");
}

bool is_of_system(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  return slash != std::string_view::npos && is_among(program.substr(0, slash), system_places);
}

// Flags as a shebang has them: nothing that a shell obeys.
bool are_flags(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == ' ' || c == '_' ||
           c == '=';
  });
}

// What pip and uv write where a shebang cannot hold the place: two lines that a shell reads, and Python skips.
std::optional<std::string> without_shell_start(std::string_view text) {
  if (trim(cut_line(text)) != "#!/bin/sh") return std::nullopt;
  const std::string_view start = cut_line(text);
  if (!start.starts_with(by_shell) || start.find("python") == std::string_view::npos) return std::nullopt;
  if (trim(cut_line(text)) != trim(behind)) return std::nullopt;
  return std::string(text);
}

class OneScript {
 public:
  OneScript(const fs::path& top, std::string path, const fs::path& place, MendedScripts& mended)
      : top_(top), file_(top / path), path_(std::move(path)), place_(place), mended_(mended) {}

  void run() {
    const auto status = try_lstat(file_);
    if (!status || status->st_size > (16 << 20) || !has_shebang()) return;
    const std::string text = *try_read_text(file_, 16 << 20);
    if (auto rest = without_shell_start(text)) return write(script_start("") + *rest);
    std::string_view left = text;
    const std::string_view line = trim(cut_line(left).substr(2));
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view program = line.substr(0, end), flags = trim(line.substr(end));
    if (!is_of_system(program)) {
      if (!is_python(program) && stands_at_place(program)) return run_there(text, program, flags);
      if (!is_python(program) || !are_flags(flags)) refuse(program);
      return write(script_start(std::string(flags)) + std::string(left));
    }
    if (is_python(program))
      mended_.remarks.push_back(fmt::format("{} is run by {}, and not by the environment's interpreter",
                                            printable(path_), printable(program)));
  }

 private:
  [[nodiscard]] bool has_shebang() const {
    std::array<std::byte, 2> start{};
    const Fd fd = open_file(file_, O_RDONLY | O_NOFOLLOW);
    return read_at(fd.get(), start, 0, file_) == 2 && start[0] == std::byte{'#'} && start[1] == std::byte{'!'};
  }

  [[noreturn]] void refuse(std::string_view program) const {
    throw Error(FailureKind::invalid,
                fmt::format("{} is run by {}, which is no program of the system", printable(path_), printable(program)),
                "remove the script, or let it begin with #!/usr/bin/env PROGRAM");
  }

  [[nodiscard]] bool stands_at_place(const fs::path& program) const {
    return !place_.empty() && is_below(program.lexically_normal(), place_) &&
           try_lstat(top_ / program.lexically_normal().lexically_relative(place_));
  }

  // By the tree's own perl, say. Linux takes no more of the line; `env` then finds it where the environment is active.
  void run_there(std::string_view text, const fs::path& program, std::string_view flags) {
    if (program.native().size() + flags.size() + 4 <= shebang_max) return;
    if (!flags.empty()) refuse(program.native());
    write(fmt::format("#!/usr/bin/env {}\n{}", program.filename().native(),
                      text.substr(std::min(text.find('\n'), text.size() - 1) + 1)));
  }

  void write(const std::string& text) {
    if (rewrite_file(file_, text)) mended_.changed.insert(path_);
  }

  const fs::path& top_;
  const fs::path file_;
  const std::string path_;
  const fs::path& place_;
  MendedScripts& mended_;
};

constexpr std::string_view sh_text =
    R"sh(# Activates this environment in the shell that reads this file: . DIR/bin/activate
if [ -n "${BASH_SOURCE:-}" ]; then
  _sabath_here="${BASH_SOURCE}"
elif [ -n "${ZSH_VERSION:-}" ]; then
  eval '_sabath_here="${(%):-%x}"'
else
  _sabath_here="${SABATH_ENV:-}/bin/activate"
fi
_sabath_here="$(CDPATH= cd -P -- "$(dirname -- "$_sabath_here")/.." 2>/dev/null && pwd -P)"
if [ -z "$_sabath_here" ] || [ ! -e "$_sabath_here/bin/activate" ]; then
  echo "this shell does not say which file it reads: set SABATH_ENV to the environment's directory before" >&2
  unset _sabath_here
  return 1
else
  if [ -n "${_SABATH_OLD_PATH:-}" ]; then deactivate; fi
  _SABATH_OLD_PATH="$PATH"
  _SABATH_OLD_PYTHONPATH="${PYTHONPATH:-}"
  _SABATH_OLD_VIRTUAL_ENV="${VIRTUAL_ENV:-}"
  SABATH_ENV="$_sabath_here"
  PATH="$SABATH_ENV/bin:$PATH"
  PYTHONNOUSERSITE=1
  export SABATH_ENV PATH PYTHONNOUSERSITE
  unset PYTHONHOME PYTHONPATH VIRTUAL_ENV _sabath_here
  hash -r 2>/dev/null
  deactivate() {
    PATH="$_SABATH_OLD_PATH"
    export PATH
    if [ -n "$_SABATH_OLD_PYTHONPATH" ]; then PYTHONPATH="$_SABATH_OLD_PYTHONPATH"; export PYTHONPATH; fi
    if [ -n "$_SABATH_OLD_VIRTUAL_ENV" ]; then VIRTUAL_ENV="$_SABATH_OLD_VIRTUAL_ENV"; export VIRTUAL_ENV; fi
    unset SABATH_ENV PYTHONNOUSERSITE _SABATH_OLD_PATH _SABATH_OLD_PYTHONPATH _SABATH_OLD_VIRTUAL_ENV
    unset -f deactivate
    hash -r 2>/dev/null
  }
fi
)sh";

constexpr std::string_view fish_text =
    R"sh(# Activates this environment in the fish that reads this file: source DIR/bin/activate.fish
set -gx SABATH_ENV (path resolve (dirname (status filename))/.. 2>/dev/null; or realpath (dirname (status filename))/..)
set -gx PATH $SABATH_ENV/bin $PATH
set -gx PYTHONNOUSERSITE 1
set -e PYTHONHOME
set -e PYTHONPATH
set -e VIRTUAL_ENV
)sh";

}  // namespace

std::string script_start(const std::string& flags) {
  return fmt::format("#!/bin/sh\n{}\"$(dirname -- \"$(realpath -- \"$0\")\")\"/python {}\"$0\" \"$@\"\n{}", by_shell,
                     flags.empty() ? "" : flags + " ", behind);
}

MendedScripts mend_scripts(const fs::path& top, const fs::path& place) {
  MendedScripts mended;
  if (!try_lstat(top / "bin")) return mended;
  for_each_packed_file(top / "bin",
                       [&](const std::string& path) { OneScript(top, "bin/" + path, place, mended).run(); });
  return mended;
}

void write_activation(const fs::path& top) {
  make_directories(top / "bin");
  write_new_file(top / "bin/activate", sh_text);
  write_new_file(top / "bin/activate.fish", fish_text);
}

}  // namespace sabath
