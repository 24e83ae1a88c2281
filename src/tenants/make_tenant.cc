#include <curl/curl.h>
#include <fmt/core.h>

#include <memory>

#include "tenants/comfyui.h"
#include "tenants/tenant.h"

namespace jipsa {

namespace {

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

bool has(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return false;
  curl_free(text);
  return true;
}

// The address without slashes at its end, so that "/free" can follow.
Result<std::string> address_of(const TenantConfig& config) {
  const auto wrong = [&](const char* finding) {
    return fail(Code::bad_input,
                fmt::format("tenant {}: url \"{}\": {}; write it as \"http://127.0.0.1:8188\"", config.id, config.url, finding));
  };
  if (!config.url.starts_with("http://") && !config.url.starts_with("https://"))
    return wrong("it begins with neither http:// nor https://");
  const std::unique_ptr<CURLU, UrlFree> url(curl_url());
  if (!url) return fail(Code::io, fmt::format("tenant {}: no memory to read its url", config.id));
  if (const CURLUcode code = curl_url_set(url.get(), CURLUPART_URL, config.url.c_str(), 0); code != CURLUE_OK)
    return wrong(curl_url_strerror(code));
  if (has(url.get(), CURLUPART_QUERY) || has(url.get(), CURLUPART_FRAGMENT)) return wrong("it has a part after ? or #");
  std::string address = config.url;
  while (address.ends_with('/')) address.pop_back();
  return address;
}

}  // namespace

Result<std::unique_ptr<Tenant>> make_tenant(const TenantConfig& config, HttpClient& http) {
  if (config.kind != "comfyui") {
    return fail(Code::unsupported,
                fmt::format("tenant {}: there is no adapter for kind \"{}\"; there is: comfyui", config.id, config.kind));
  }
  auto address = address_of(config);
  if (!address) return tl::unexpected<Error>(std::move(address.error()));
  return std::make_unique<ComfyUi>(std::move(*address), http);
}

}  // namespace jipsa
