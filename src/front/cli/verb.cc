#include "cli/verb.h"

#include <cstdio>

#include "cli/show/progress.h"
#include "cli/show/render.h"

namespace sabath::cli {

std::unique_ptr<EventSink> Context::make_progress() const {
  if (!speaks()) return std::make_unique<NoEvents>();
  return std::make_unique<Progress>(presentation, make_world_of_stderr(environment), Progress::Ticks::by_thread, stop);
}

void Context::say(std::string_view line) const {
  if (presentation.quiet || !speaks()) return;
  const std::string text = std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Context::warn(std::string_view text) const {
  if (!speaks()) return;
  const std::string rendered = render_warning(text, presentation.color);
  std::fwrite(rendered.data(), 1, rendered.size(), stderr);
}

}  // namespace sabath::cli
