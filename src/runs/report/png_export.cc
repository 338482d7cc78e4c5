// The figure as a PNG, which rsvg-convert makes of it.
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "report/exporter.h"
#include "report/figure.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

void write_png(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  const std::string source = sink.file().string() + ".svg";
  struct Remove {
    const std::string& path;
    ~Remove() { ::unlink(path.c_str()); }
  } const remove{source};
  write_text_atomically(source, draw_figure(runs, shown_in_figure(runs, options.metrics)));
  try {
    const auto result =
        run_command({{"rsvg-convert", "--zoom", "2", "--output", sink.file().string(), source}, {}, {}}, options.stop);
    if (result.status != 0) throw Error(FailureKind::command, "rsvg-convert failed: " + printable(result.err));
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::command) throw;
    throw Error(FailureKind::command, error.failure().message,
                "install rsvg-convert (Debian: librsvg2-bin), or write an .svg");
  }
}

}  // namespace

extern constexpr Exporter png_exporter{
    .name = "png", .endings = {".png"}, .target = Exporter::Target::file, .write = write_png};

}  // namespace sabath
