// What a ComfyUI server's answers mean. Text in, facts out; nothing here calls anyone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenants/tenant.h"

namespace jipsa::comfyui {

// In each: a field that is missing, of the wrong type or absurd is empty, and `trouble` says what was found where. A field that
// older servers do not have is empty without trouble.

struct Stats {
  std::vector<DeviceReport> devices;
  std::string version;
  std::string trouble;
};
Stats read_system_stats(const std::string& body);

struct Remaining {
  std::optional<std::int64_t> count;  // running and pending together
  std::string trouble;
};
Remaining read_prompt(const std::string& body);

struct Queue {
  std::optional<std::int64_t> running, pending;
  std::string trouble;
};
Queue read_queue(const std::string& body);

struct History {
  std::optional<std::int64_t> newest_ms;  // the newest time stamp of any message; empty when nothing has run
  std::string trouble;
};
History read_history(const std::string& body);

// What became of POST /free. `address` is for the sentence.
ReleaseAnswer read_free(const HttpAnswer& answer, const std::string& address);

// One line for an HTTP answer that is not the data asked for: "HTTP 403 (…)", "no answer within …". Empty for a 200.
std::string not_data(const HttpAnswer& answer);

}  // namespace jipsa::comfyui
