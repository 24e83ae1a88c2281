// A new job, from the words of `jipsa add` and `jipsa run` to the body of POST /v1/jobs.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "cli/args.h"
#include "cli/session.h"

namespace jipsa::cli {

// What is wrong has been said when there is no body.
tl::expected<std::string, int> job_request(const Session& session, const Words& words);

}  // namespace jipsa::cli
