// Events as JSON, for listeners of the C interface.
#include <nlohmann/json.hpp>

#include "metrics/record.h"
#include "sabath/event.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

std::string_view level_name(Reuse level) {
  constexpr std::string_view names[] = {"source", "content", "chunk", "partial"};
  return names[static_cast<std::size_t>(level)];
}

Json record_of(const event::AssetStarted& event) {
  return {{"event", "AssetStarted"},
          {"name", event.name},
          {"bytes_total", value_or_null(event.bytes_total)},
          {"files_total", event.files_total}};
}
Json record_of(const event::TotalKnown& event) {
  return {
      {"event", "TotalKnown"}, {"bytes_total", value_or_null(event.bytes_total)}, {"files_total", event.files_total}};
}
Json record_of(const event::SizeLearnt& event) { return {{"event", "SizeLearnt"}, {"bytes", event.bytes}}; }
Json record_of(const event::BytesReceived& event) {
  return {{"event", "BytesReceived"}, {"source", event.source}, {"bytes", event.bytes}};
}
Json record_of(const event::BytesReused& event) {
  return {{"event", "BytesReused"}, {"bytes", event.bytes}, {"level", level_name(event.level)}};
}
Json record_of(const event::BytesKept& event) { return {{"event", "BytesKept"}, {"bytes", event.bytes}}; }
Json record_of(const event::HostPaused& event) {
  return {{"event", "HostPaused"}, {"host", event.host}, {"seconds", event.seconds}};
}
Json record_of(const event::SourceNamed& event) {
  return {{"event", "SourceNamed"}, {"source", event.source}, {"url", event.url}};
}
Json record_of(const event::SourceFailed& event) {
  return {{"event", "SourceFailed"}, {"source", event.source}, {"reason", event.reason}, {"demoted", event.demoted}};
}
Json record_of(const event::FileDone& event) {
  return {{"event", "FileDone"}, {"path", event.path}, {"bytes", event.bytes}};
}
Json record_of(const event::PhaseChanged& event) { return {{"event", "PhaseChanged"}, {"phase", event.phase}}; }
Json record_of(const event::Note& event) { return {{"event", "Note"}, {"text", event.text}}; }
Json record_of(const event::Warning& event) { return {{"event", "Warning"}, {"text", event.text}}; }
Json record_of(const event::Message& event) { return {{"event", "Message"}, {"text", event.text}}; }
Json record_of(const event::ServeStarted& event) {
  return {{"event", "ServeStarted"},
          {"url", event.url},
          {"host", event.host},
          {"port", event.port},
          {"store", event.store}};
}
Json record_of(const event::RunStarted& event) {
  return {{"event", "RunStarted"},
          {"model", event.model},
          {"directory", event.directory},
          {"epochs", value_or_null(event.epochs)}};
}
Json record_of(const event::MetricRead& event) {
  return {{"event", "MetricRead"}, {"metric", Json::parse(metric_json(event.metric))}};
}
Json record_of(const event::OutputRead& event) { return {{"event", "OutputRead"}, {"bytes", event.bytes}}; }
Json record_of(const event::RunTick&) { return {{"event", "RunTick"}}; }
Json record_of(const event::RunEnded& event) {
  const auto number = [](const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"event", "RunEnded"},
          {"model", event.model},
          {"directory", event.directory},
          {"program", event.program},
          {"seconds", event.seconds},
          {"metrics", event.metrics},
          {"not_understood", event.not_understood},
          {"stopped", event.stopped},
          {"exit", number(event.exit)},
          {"signal", number(event.signal)},
          {"last_lines", event.last_lines},
          {"unwritten_lines", event.unwritten_lines},
          {"unwritten_why", text_or_null(event.unwritten_why)}};
}
Json record_of(const event::AssetFinished& event) { return {{"event", "AssetFinished"}, {"name", event.name}}; }

}  // namespace

std::string to_json(const Event& event) {
  return text_of(std::visit([](const auto& one) { return record_of(one); }, event));
}

}  // namespace sabath
