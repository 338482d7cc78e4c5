#include "mpi/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string_view>
#include <variant>

#include "base/file.h"
#include "base/loadable.h"
#include "mpi/choice.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

template <typename Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

// What the dynamic linker says, which is mostly that there is no such file.
std::string why_not_opened(std::string_view name) {
  const char* const said = ::dlerror();
  const std::string_view text = said != nullptr ? said : "unknown";
  const bool absent =
      text.starts_with(name) && text.find("No such file") != text.npos;  // and not a library that it needs
  return absent ? "not there" : printable(text, 300);
}

MpiSigns signs_of(void* library, std::string name) {
  MpiSigns signs;
  signs.name = std::move(name);
  auto* const version = function<int(char*, int*)>(library, "MPI_Get_library_version");
  signs.is_mpi = version != nullptr && ::dlsym(library, "MPI_Iallreduce") != nullptr;
  if (!signs.is_mpi) return signs;
  std::array<char, 16384> text{};  // twice what the standard allows
  int length = 0;
  version(text.data(), &length);
  signs.text = text.data();
  signs.is_openmpi = ::dlsym(library, "ompi_mpi_comm_self") != nullptr;
  if (auto* const abi = function<int(int*, int*)>(library, "MPI_Abi_get_version")) {
    int minor = 0;
    abi(&signs.standard_abi, &minor);
  }
  return signs;
}

fs::path file_of(void* library) {
  link_map* map = nullptr;
  return ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? fs::path(map->l_name) : fs::path();
}

// One search: the libraries by their names, and for the first that can be used the plug-in of its ABI.
class Search {
 public:
  explicit Search(const MpiPlaces& places) : places_(places), launcher_(launcher_family(places.variable)) {}

  MpiSearch run(bool whole) {
    std::vector<std::string> names = mpi_names(places_.variable);
    if (const auto asked = places_.variable("SABATH_LIBMPI")) {
      names = {*asked};
      launcher_ = MpiFamily::any;  // the user knows better
      if (!fs::path(*asked).is_absolute()) {
        pass_over("SABATH_LIBMPI=" + printable(*asked), "not an absolute path");
        return std::move(result_);
      }
    }
    for (const std::string& name : names) {
      if (is_global_ && !whole) break;
      look_at(name);
    }
    return std::move(result_);
  }

 private:
  void pass_over(const std::string& what, const std::string& why) {
    result_.passed_over.push_back(fmt::format("{}: {}", what, why));
  }

  // Local at first: two MPIs that are both global would take each other's functions.
  void look_at(const std::string& name) {
    void* const library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return pass_over(name, why_not_opened(name));
    const fs::path file = file_of(library);
    if (!seen_.insert(file).second) return;
    const MpiSigns signs = signs_of(library, file.filename());
    const MpiVerdict verdict = judge(signs, launcher_);
    if (verdict.abi.empty()) return pass_over(file, verdict.why_not);
    if (is_global_) return pass_over(file, first_words(signs.text) + " comes later");
    const std::vector<Plugin> plugins = plugins_for(verdict.abi);
    if (plugins.empty()) {
      result_.lacks_plugin = true;
      return pass_over(file, fmt::format("no plug-in for {}, whose ABI is `{}`", first_words(signs.text), verdict.abi));
    }
    // Global from here on: parts that Open MPI before 5 opens, and the plug-in, look for its functions and data there.
    is_global_ = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD) != nullptr;
    if (!is_global_) return pass_over(file, why_not_opened(file.native()));
    for (const Plugin& plugin : plugins) {
      const auto why_not = open_plugin(plugin, verdict.abi);
      if (why_not) {
        pass_over(plugin.name, *why_not);
        continue;
      }
      result_.found = MpiLibrary{first_words(signs.text), verdict.abi, file, plugin.name};
      return;
    }
    result_.lacks_plugin = true;
  }

  struct Plugin {
    fs::path name;
    Fd file;
  };

  // One that the user has built comes first: it is there because the program's own would not do.
  std::vector<Plugin> plugins_for(const std::string& abi) {
    std::vector<Plugin> plugins;
    for (const fs::path& directory : plugin_directories(places_)) {
      const fs::path file = directory / fmt::format("libsabath-mpi-{}.so", abi);
      auto opened = open_loadable(file, places_.program);
      if (auto* const open = std::get_if<Fd>(&opened)) {
        plugins.push_back({file, std::move(*open)});
      } else if (const std::string& why_not = std::get<std::string>(opened); !why_not.empty()) {
        pass_over(file, why_not);
      }
    }
    return plugins;
  }

  // Why not; nullopt: result_.calls is its table.
  std::optional<std::string> open_plugin(const Plugin& opened, const std::string& abi) {
    void* const plugin = load(opened.file, opened.name, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return why_not_opened(opened.name.native());
    const auto* const calls = static_cast<const sabath_mpi_calls*>(::dlsym(plugin, SABATH_MPI_TABLE_NAME));
    if (calls == nullptr) return "no plug-in of this program";
    if (calls->version != SABATH_MPI_TABLE_VERSION)
      return fmt::format("its table is of version {}, and this program's of {}: build it again", calls->version,
                         SABATH_MPI_TABLE_VERSION);
    if (calls->size != sizeof *calls || calls->abi != abi) return "its table is not what its name says";
    result_.calls = calls;
    return std::nullopt;
  }

  const MpiPlaces& places_;
  MpiFamily launcher_;
  std::set<fs::path> seen_;
  bool is_global_ = false;  // an MPI is, and no second one may be
  MpiSearch result_;
};

}  // namespace

std::vector<fs::path> plugin_directories(const MpiPlaces& places) {
  std::vector<fs::path> directories;
  if (places.data.is_absolute()) directories.push_back(places.data / "sabath/mpi");
  if (places.program.is_absolute())
    directories.push_back((places.program.parent_path() / SABATH_PLUGINS).lexically_normal());
  return directories;
}

MpiSearch find_mpi(const MpiPlaces& places, bool whole) { return Search(places).run(whole); }

}  // namespace sabath
