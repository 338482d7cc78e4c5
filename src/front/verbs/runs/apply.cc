#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apply/built_in.h"
#include "apply/derive.h"
#include "fields/derivation.h"
#include "fields/failure.h"
#include "fields/request.h"
#include "holdings/holding.h"
#include "holdings/lineage.h"
#include "recipe/supporting.h"
#include "sabath/error.h"
#include "sabath/verbs/apply.h"
#include "session/caller_of.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// A value of an argument as JSON has it.
Json value_of(ArgumentType type, const std::string& text) {
  if (type == ArgumentType::text) return text;
  return Json::parse(text);  // right_value() wrote it
}

Json default_of(const ScriptArgument& argument) {
  return argument.fallback ? value_of(argument.type, *argument.fallback) : Json();
}

std::vector<Json> choices_of(const ScriptArgument& argument) {
  std::vector<Json> all;
  for (const std::string& choice : argument.choices) all.push_back(value_of(argument.type, choice));
  return all;
}

std::optional<std::string> source_of(const ListedScript& listed) {
  return listed.script.source ? std::optional(listed.script.source->text()) : std::nullopt;
}

std::optional<DerivationStep> derivation_of(const ApplyRecord& record) {
  return record.derivation.key == Sha256{} ? std::nullopt : std::optional(record.derivation);
}

}  // namespace

SupportingRecord supporting(Session& session, const SupportingRequest& request, EventSink&, std::stop_token) {
  SupportingRecord record;
  if (!request.name.empty()) {
    const Catalogue catalogue = make_catalogue(session.settings());
    const Recipe recipe = catalogue.find(request.name, std::nullopt);
    record.name = recipe.name;
    for (const SupportingScript& script : origin_of(catalogue, recipe).value_or(recipe).supporting)
      record.scripts.push_back({script, false, {}});
  }
  for (const Builtin* one : builtins()) record.scripts.push_back({script_of(*one), true, tools_of(*one)});
  return record;
}

ApplyRecord apply(Session& session, const ApplyRequest& request, EventSink& events, std::stop_token stop) {
  check_span(request.time, "the time of a script");
  return derive(caller_of(session), request, events, std::move(stop));
}

template <>
struct WordsOf<ArgumentType> {
  static constexpr std::string_view words = "text|int|float|bool";
  static std::string_view text(ArgumentType type) { return type_name(type); }
};

template <>
struct Described<SupportingRequest> {
  using Of = SupportingRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset; none: the built-in scripts alone", .argument = "NAME"),
  };
};

template <>
struct Described<ScriptArgument> {
  using Of = ScriptArgument;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as NAME=VALUE has it"),
      SABATH_FIELD(type, .help = "what its value is"),
      SABATH_VALUE("default", default_of, .help = "its value, where none is given; null: it has none"),
      SABATH_VALUE(
          "required", [](const Of& of) { return !of.fallback; }, .help = "it must be given"),
      SABATH_VALUE("choices", choices_of, .help = "the only values; none: all of the type"),
      SABATH_FIELD(help, .help = "what it means", .null_if_empty = true),
  };
};

template <>
struct Described<ListedScript> {
  using Of = ListedScript;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("id", script.id, .help = "its name"),
      SABATH_FIELD_AS("description", script.description, .help = "what it does", .null_if_empty = true),
      SABATH_FIELD(built_in, .help = "it is the program's, not the recipe's"),
      SABATH_VALUE(
          "per", [](const Of& of) { return std::string_view(of.script.per_file ? "file" : "asset"); },
          .help = "it runs once for each input file, or once for the asset", .words = "file|asset"),
      SABATH_FIELD_AS("inputs", script.inputs, .help = "patterns of the paths that it reads"),
      SABATH_FIELD_AS("outputs", script.outputs, .help = "patterns of the paths that it writes"),
      SABATH_FIELD_AS("argv", script.argv, .help = "its command; empty: it is built in"),
      SABATH_VALUE("source", source_of, .help = "the directory of its code, beside the recipe's file"),
      SABATH_FIELD(tools, .help = "versions of what a built-in script uses"),
      SABATH_FIELD_AS("arguments", script.arguments, .help = "what `apply` can give it"),
  };
};

template <>
struct Described<SupportingRecord> {
  using Of = SupportingRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset; null: none was named", .null_if_empty = true),
      SABATH_FIELD(scripts, .help = "the recipe's, in its order, then the built-in ones"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<ApplyRequest> {
  using Of = ApplyRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset that is the input", .required = true, .argument = "NAME"),
      SABATH_FIELD(script, .help = "what is done to it: see `sabath apply --list NAME`", .required = true,
                   .argument = "SCRIPT"),
      SABATH_FIELD(arguments, .help = "KEY=VALUE, of the script; num_threads=N: files at once, of each rank",
                   .argument = "ARGUMENT"),
      SABATH_FIELD(as, .help = "a name for the new asset (default: NAME+SCRIPT-KEY)", .value = "NAME"),
      SABATH_FIELD(in_place,
                   .help = "a tree of NAME outside the store, which becomes one of the new asset; files that the "
                           "script does not write stay, and are shared",
                   .value = "DIR"),
      SABATH_FIELD(threads, .help = "as num_threads=N (default 1)", .maximum = 1024, .letter = 'j', .value = "N"),
      SABATH_FIELD_AS("memory", memory_bytes, .help = "address space of each process of the recipe's script, e.g. 4G",
                      .unit = "bytes", .value = "SIZE"),
      SABATH_FIELD(time, .help = "for each start of the recipe's script, e.g. 10m; then it is ended", .value = "TIME"),
      SABATH_FIELD(trust,
                   .help = "run a script that is not trusted yet: this time, always this code, or all of its origin "
                           "(docs/trust.md)",
                   .words = "once|commit|origin"),
      SABATH_FIELD(dry_run, .help = "say whether it is there, and touch nothing", .letter = 'n'),
      SABATH_FIELD(no_fetch, .help = "content of NAME that is missing is an error, and not fetched"),
      SABATH_FIELD(force, .help = "do the work again, even if it was done", .letter = 'f'),
      SABATH_FIELD(environment, .help = "what the recipe's script starts from; absent: that of this process",
                   .hidden = true),
  };
};

template <>
struct Described<ApplyFailure> {
  using Of = ApplyFailure;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("kind", failure.kind, .help = "the kind, as docs/exit-codes.md has them"),
      SABATH_FIELD_AS("message", failure.message, .help = "one line"),
      SABATH_FIELD_AS("hint", failure.hint, .help = "what to do next", .null_if_empty = true),
      SABATH_FIELD(path, .help = "the input file; null: it is about the asset", .null_if_empty = true),
      SABATH_FIELD_AS("script_exit", exit, .help = "the exit code of the script; null: there is none"),
      SABATH_FIELD_AS("script_signal", signal, .help = "the signal that ended the script; null: there is none",
                      .null_if_empty = true),
      SABATH_FIELD(last_lines, .help = "what the script printed last"),
  };
};

template <>
struct Described<ApplyRecord> {
  using Of = ApplyRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the new asset; null: there is none", .null_if_empty = true),
      SABATH_FIELD(manifest, .help = "its root", .null_if_empty = true),
      SABATH_FIELD(path, .help = "its view, or the tree in place", .null_if_empty = true),
      SABATH_FIELD(packed, .help = "its files are in packs, and there is no view"),
      SABATH_VALUE("derived", derivation_of, .help = "how it came to be; null: it is not known"),
      SABATH_FIELD(command, .help = "as it ran, or would run, for the first file"),
      SABATH_FIELD(was_there, .help = "the work was done before, and all of it is here"),
      SABATH_FIELD(inputs, .help = "files that the script reads", .unit = "files"),
      SABATH_FIELD(processed, .help = "files that this call has done, with all ranks", .unit = "files"),
      SABATH_FIELD(resumed, .help = "files that earlier calls had done", .unit = "files"),
      SABATH_FIELD(files, .help = "of the new asset", .unit = "files"),
      SABATH_FIELD(bytes, .help = "of the new asset", .unit = "bytes"),
      SABATH_FIELD(ranks, .help = "processes that shared the work"),
      SABATH_FIELD(threads, .help = "threads of each of them"),
      SABATH_FIELD(seconds, .help = "how long it took", .unit = "seconds"),
      SABATH_FIELD(failures, .help = "files that could not be done"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const SupportingRecord& record) { return record_text(record); }
std::string to_json(const ApplyRecord& record) { return record_text(record); }

extern constexpr LibraryVerb supporting_call = described<supporting>("supporting");
extern constexpr LibraryVerb apply_call = described<apply>("apply");

}  // namespace sabath
