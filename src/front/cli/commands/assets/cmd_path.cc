#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/path.h"

namespace sabath::cli {
namespace {
namespace cmd_path {

void print(Context& context, const PathRecord& record) {
  context.out.print(record.path.string() + "\n");  // for $(sabath path NAME): as it is on disk
}

}  // namespace cmd_path
}  // namespace

constexpr Verb path_verb{
    .name = "path",
    .summary = "print where a fetched asset is",
    .examples =
        "p=$(sabath path mnist) && cd \"$p\"    a script goes on only if it is there\n"
        "python train.py --data \"$(sabath path mnist)\"\n"
        "sabath path --fragment main mnist",
    .details =
        "Exit code 9 when the asset, or a part of it, is not in the store: then nothing is printed on standard output.",
    .declare = declare<find_path, cmd_path::print>,
};

}  // namespace sabath::cli
