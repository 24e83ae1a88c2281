#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "config/tenant.h"

namespace jipsa::config {
namespace {

constexpr const char* kUrlForm = "write \"http://127.0.0.1:8188\"";

tl::unexpected<Complaint> no(const std::string& url, std::string_view finding) {
  return tl::unexpected<Complaint>(Complaint{fmt::format("{} {}", quoted(url), finding), kUrlForm});
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool good_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) return false;
  int port = 0;
  for (const char c : text) port = port * 10 + (c - '0');
  return port >= 1 && port <= 65535;
}

bool good_host(std::string_view host) {
  if (host.starts_with('[')) {
    const auto inside = host.substr(1, host.size() < 2 ? 0 : host.size() - 2);
    return host.ends_with(']') && inside.find(':') != std::string_view::npos &&
           inside.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  }
  return !host.empty() &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == std::string_view::npos;
}

}  // namespace

Read<std::string> read_url(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with("http://"))
    rest.remove_prefix(7);
  else if (rest.starts_with("https://"))
    rest.remove_prefix(8);
  else
    return no(text, "does not begin with http:// or https://");
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('@') != std::string_view::npos) return no(text, "has a user name in it");
  if (rest.find_first_of("/?#") != std::string_view::npos) return no(text, "has a path after the port");
  const auto bracket = rest.rfind(']');
  const auto colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos && !good_port(rest.substr(colon + 1)))
    return no(text, "has no port from 1 to 65535 after its ':'");
  if (!good_host(rest.substr(0, colon))) return no(text, "names no host");
  return text.substr(0, text.size() - (text.ends_with('/') ? 1 : 0));
}

}  // namespace jipsa::config
