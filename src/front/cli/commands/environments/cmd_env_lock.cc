#include <fmt/format.h>

#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/env_lock.h"

namespace sabath::cli {
namespace {
namespace cmd_env_lock {

// URLs, digests and sizes stand in the lock.
void print(Context& context, const EnvLockRecord& record) {
  Table table({"PACKAGE", "VERSION", "FILE"});
  for (const EnvLockedPackage& each : record.packages)
    table.add({printable(each.name), printable(each.version), printable(each.file)});
  context.out.print(table.text({}, 0));
  const auto line = [&context](const char* key, const std::string& value) {
    if (!value.empty()) context.out.print(fmt::format("{:<8}  {}\n", key, value));
  };
  line("lock", printable(record.lock.native(), 1000) + (record.changed ? "" : " (the same as before)"));
  const std::string python = record.python.empty() ? "" : fmt::format("Python {}, ", record.python);
  line("target", fmt::format("{}{}, {}", python, record.platform, record.libc));
  line("resolver", record.resolver);
  if (record.without_size < record.packages.size()) line("size", format_bytes(record.bytes));
  if (record.without_size > 0) line("no size", fmt::format("of {}: the first fetch learns it", record.without_size));
  for (const std::string& remark : record.remarks) line("remark", printable(remark, 2000));
}

}  // namespace cmd_env_lock
}  // namespace

constexpr Verb env_lock_verb{
    .name = "env lock",
    .summary = "lock an environment: one wheel or package each, with its digest, for the nodes",
    .examples =
        "sabath env lock requirements.txt                      pylock.toml for this machine\n"
        "sabath env lock uv.lock --python 3.11 --glibc 2.28    for nodes with older libraries\n"
        "sabath env lock environment.yml -o conda-lock.yml     by your micromamba, mamba or conda\n"
        "sabath env lock explicit.txt pylock.toml              several files, one environment",
    .details =
        "Lock files are read as they are: pylock.toml, uv.lock, conda's explicit list, conda-lock.yml. What is "
        "not locked is resolved by your uv or pip, and no code of a package runs: sdists, repositories and "
        "local paths are refused by name. An index that a file names is asked only if your own configuration "
        "or --index names it. The page docs/environments.md has the rules.",
    .declare = declare<env_lock, cmd_env_lock::print>,
};

}  // namespace sabath::cli
