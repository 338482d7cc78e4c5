// The host of a URL in a job's table, by what is known of it before it was ever asked. Any thread.
#pragma once

#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "sabath/url.h"

namespace sabath {

[[nodiscard]] Host& host_of(const FetchContext& context, const Url& url);

}  // namespace sabath
