// Catalogues of others, subscribed: DIR/catalogues/LAB has their recipes and subscription.json, which says where they
// are from and at which version. What is fetched goes through the store, as any asset does: with its checks, limits and
// credentials. A tree is replaced by renames: a reader finds the old one or the new one. One thread.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/catalogue.h"

namespace sabath {

[[nodiscard]] bool is_git_url(const std::string& url);  // "git+https://...", "....git", ssh, or a local repository
// By the URL: "lab" of "https://host/lab.git" and of "https://host/lab/index.json". Throws Error{usage} if it has none.
[[nodiscard]] std::string name_of_catalogue(const std::string& url);

[[nodiscard]] std::vector<Subscription> subscriptions_in(const std::vector<std::filesystem::path>& directories);

// Fetches the catalogue and puts it into `home`/catalogues/NAME. `wanted`: name, url, and pin if it is fixed.
// `install` false: says what would change. Throws Error{invalid} for a catalogue that is none.
[[nodiscard]] SubscriptionChange take_catalogue(const SessionSettings& settings, const std::filesystem::path& home,
                                                const Subscription& wanted, bool install, EventSink& events,
                                                std::stop_token stop);

}  // namespace sabath
