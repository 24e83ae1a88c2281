// One [[tenant]].
#pragma once

#include "config/config.h"
#include "config/section.h"

namespace jipsa::config {

// Adds it to config.tenants and config.policy.tenants, unless what it can't do without (id, kind, url) is wrong.
void read_tenant(const Table& table, int line, std::size_t position, Config& config, Findings& findings);

// http(s)://HOST[:PORT] without its trailing slash.
Read<std::string> read_url(const std::string& text);

}  // namespace jipsa::config
