// horovod, torch.cuda, nccl: asked of the run's Python, in a child.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "checks/builtin.h"

namespace sabath {
namespace {

using State = CheckFound::State;

// Each prints one line of JSON behind a mark, since a framework may print, too.
constexpr std::string_view said_mark = "sabath-check ";

constexpr const char* ask_horovod = R"python(
import glob, json, os
said = {}
try:
    import horovod
    here = os.path.dirname(horovod.__file__)
    said["version"] = str(horovod.__version__)
    said["built"] = [name for name in ("tensorflow", "torch", "mxnet") if glob.glob(os.path.join(here, name, "mpi_lib*.so"))]
except Exception as error:
    said["error"] = f"{type(error).__name__}: {error}"
print("\nsabath-check " + json.dumps(said), flush=True)
)python";

constexpr const char* ask_torch = R"python(
import json
said = {}
try:
    import torch
    said["version"] = str(torch.__version__)
    said["cuda"] = str(torch.version.cuda or "")
    said["hip"] = str(getattr(torch.version, "hip", None) or "")
    said["devices"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
    said["device"] = torch.cuda.get_device_name(0) if said["devices"] else ""
except Exception as error:
    said["error"] = f"{type(error).__name__}: {error}"
print("\nsabath-check " + json.dumps(said), flush=True)
)python";

constexpr const char* ask_nccl = R"python(
import ctypes, importlib.util, json
said = {}
try:
    if importlib.util.find_spec("torch"):
        import torch
        found = torch.cuda.nccl.version() if torch.version.cuda else None
        if isinstance(found, tuple):
            said.update(version=".".join(map(str, found)), by=f"torch {torch.__version__}")
except Exception as error:
    said["error"] = f"{type(error).__name__}: {error}"
if "version" not in said:
    try:
        number = ctypes.c_int(0)
        ctypes.CDLL("libnccl.so.2").ncclGetVersion(ctypes.byref(number))
        base = 1000 if number.value < 10000 else 10000
        said.update(version=f"{number.value // base}.{number.value % base // 100}.{number.value % 100}", by="libnccl.so.2")
    except Exception as error:
        said.setdefault("error", f"{type(error).__name__}: {error}")
print("\nsabath-check " + json.dumps(said), flush=True)
)python";

struct Said {
  nlohmann::json facts;
  CheckFound failed;  // where there are none
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = facts.find(key);
    return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
  }
};

Said ask_python(const CheckPlace& place, const char* script, const std::string& how, const std::string& remedy) {
  Said said;
  said.failed = {State::not_known, "the run has no Python", "the PATH of the run", "load a Python that has it"};
  if (place.python.empty()) return said;
  std::string trouble;
  const CheckAnswer answer = ask_of_run(place, place.inside({place.python, "-c", script}), trouble);
  said.failed = {State::not_met, trouble.empty() ? "it said nothing" : trouble, how + " of " + place.python, remedy};
  for_each_line(answer.out, [&](std::string_view line) {
    if (!line.starts_with(said_mark)) return;
    const auto facts = nlohmann::json::parse(line.substr(said_mark.size()), nullptr, false);
    if (facts.is_object()) said.facts = facts;
  });
  if (!trouble.empty()) said.facts = nullptr;  // it did not come to a good end
  if (said.facts.is_object() && said.text("version").empty()) {
    if (const std::string error = said.text("error"); !error.empty()) said.failed.found = error;
    said.facts = nullptr;
  }
  return said;
}

CheckFound verdict(const Said& said, bool met, std::string found) {
  return {met ? State::met : State::not_met, std::move(found), said.failed.known_by, met ? "" : said.failed.remedy};
}

}  // namespace

CheckFound find_horovod(const RecipeCheck& check, const CheckPlace& place) {
  const Said said = ask_python(place, ask_horovod, "`import horovod`", "install Horovod for the framework of the run");
  if (!said.facts.is_object()) return said.failed;
  std::string built;
  const auto all = said.facts.value("built", nlohmann::json::array());
  for (const auto& name : all) built += (built.empty() ? "" : ", ") + (name.is_string() ? name.get<std::string>() : "");
  const std::string version = said.text("version");
  return verdict(said, !built.empty() && meets_version(check, version),
                 fmt::format("{}, built for {}", version, built.empty() ? "no framework" : built));
}

CheckFound find_torch_cuda(const RecipeCheck& check, const CheckPlace& place) {
  const Said said = ask_python(place, ask_torch, "torch.cuda", "take a node with a GPU, and a torch built for it");
  if (!said.facts.is_object()) return said.failed;
  const auto devices = said.facts.find("devices");
  const std::uint64_t count =
      devices != said.facts.end() && devices->is_number_unsigned() ? devices->get<std::uint64_t>() : 0;
  const std::string cuda = said.text("cuda"), hip = said.text("hip");
  const std::string built = !cuda.empty() ? "CUDA " + cuda : !hip.empty() ? "ROCm " + hip : "no CUDA";
  const std::string device = said.text("device");
  return verdict(said, count > 0 && meets_version(check, cuda),
                 fmt::format("torch {} with {}, {} devices{}", said.text("version"), built, count,
                             device.empty() ? "" : ": " + device));
}

CheckFound find_nccl(const RecipeCheck& check, const CheckPlace& place) {
  const Said said = ask_python(place, ask_nccl, "torch, or libnccl.so.2", "load NCCL, or a torch that has it");
  if (!said.facts.is_object()) return said.failed;
  const std::string version = said.text("version");
  return verdict(said, meets_version(check, version), fmt::format("NCCL {} by {}", version, said.text("by")));
}

}  // namespace sabath
