#include "session/asking.h"

#include "fetch/decide/rewrite.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/resolver.h"

namespace sabath {
namespace {

class NothingKept final : public Sink {
 public:
  void begin(const ContentInfo&) override {}
  void write(std::span<const std::byte>) override {}
};

struct ItAnswers {};

// Ends with the first answer: what it lists is not asked about.
class FirstAnswer final : public Inquiry {
 public:
  FirstAnswer(const SessionSettings& settings, const FetcherSet& fetchers, const std::stop_token& stop)
      : settings_(settings), fetchers_(fetchers), stop_(stop) {}
  Url rewritten(const Url& url) const override { return sabath::rewritten(url, settings_.rewrites); }
  void attempt(const Url&, const std::function<void(Traffic&)>& request) override {
    Traffic traffic;
    request(traffic);
    throw ItAnswers{};
  }
  std::optional<std::string> document(const Url& url, std::size_t) override {
    Fetcher* const fetcher = fetchers_.find(url.scheme());
    if (fetcher == nullptr) return std::nullopt;
    NothingKept sink;
    Traffic traffic;
    fetcher->read({rewritten(url), 0, 0, {}}, sink, traffic, stop_);
    throw ItAnswers{};
  }
  std::stop_token stop() const override { return stop_; }

 private:
  const SessionSettings& settings_;
  const FetcherSet& fetchers_;
  const std::stop_token& stop_;
};

// nullopt: nothing here can ask it. Empty: it answers. Else why it does not.
std::optional<std::string> silence_of(const Url& url, const SessionSettings& settings, const FetcherSet& fetchers,
                                      const std::stop_token& stop) {
  FirstAnswer inquiry(settings, fetchers, stop);
  try {
    if (Resolver* const resolver = fetchers.resolver_for(url)) {
      static_cast<void>(resolver->resolve(url, inquiry));
    } else {
      const Url there = rewritten(url, settings.rewrites);
      if (fetchers.find(there.scheme()) == nullptr) return std::nullopt;
      static_cast<void>(inquiry.document(url, 0));
    }
  } catch (const ItAnswers&) {
    return "";
  } catch (const Error& error) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    return error.failure().message;
  }
  return "";
}

}  // namespace

SourceAnswers ask_sources(const Recipe& recipe, const SessionSettings& settings, const std::stop_token& stop) {
  const auto fetchers = make_fetchers(settings.fetchers);
  SourceAnswers answers;
  for (const Fragment& fragment : recipe.fragments) {
    if (answers.asked == asked_parts_max) break;
    std::optional<std::string> silence;
    for (const Url& url : fragment.urls) {
      if (auto said = silence_of(url, settings, *fetchers, stop)) silence = std::move(said);
      if (silence && silence->empty()) break;
    }
    if (!silence) continue;
    ++answers.asked;
    if (silence->empty()) ++answers.answered;
    if (silence->empty() || !answers.silent.empty()) continue;
    answers.silent = fragment.id;
    answers.why = printable(*silence, 1000);
  }
  return answers;
}

}  // namespace sabath
