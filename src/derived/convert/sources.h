// What is to be converted: the models' files, the code that builds them, the engines and their Python. One thread.
// Throws Error{usage}, {not_found}, {unavailable} for a Python that is not here, and what a fetch throws.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "convert/engine.h"
#include "holdings/calling_session.h"
#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/convert.h"
#include "store/store.h"

namespace sabath {

struct ConversionSource {
  ConvertModel asked;
  std::string name;  // of the model in the asset: its file's, without the ending; each another one
  std::filesystem::path file;
  Sha256 digest;                 // of its bytes, as of all digests here
  std::optional<Recipe> recipe;  // of the asset that it is from, and its root
  std::optional<Sha256> root;
  std::filesystem::path code;
  std::string factory;
  std::optional<Sha256> code_digest;
  std::map<std::string, std::string> beside;  // what it reads besides: weights outside of a graph, Python of its code
  std::vector<Sha256> dummy, data;
  bool is_torchscript = false;
  std::vector<std::string> loads;  // what loading it would run; none: nothing
  ConversionEngine engine;
  std::string program;                       // that the engine's first word stands for
  std::map<std::string, std::string> tools;  // versions of what the engine needs
};

[[nodiscard]] std::vector<ConversionSource> find_sources(const CallingSession& caller, Store& store,
                                                         const ConvertRequest& request, EventSink& events,
                                                         const std::stop_token& stop);
// Throws Error{access} if code of it would run that is not trusted. True: loading it may run code.
bool ask_conversion_consent(const SessionSettings& settings, const ConvertRequest& request,
                            const ConversionSource& source);
// Of what decides what comes of the request; canonical JSON.
[[nodiscard]] std::string conversion_key_text(const ConvertRequest& request,
                                              const std::vector<ConversionSource>& sources);
// The environment of an engine: the caller's, without an accelerator, and Python leaves nothing beside its code.
[[nodiscard]] std::map<std::string, std::string> engine_variables(const Environment& environment);

}  // namespace sabath
