#include "store/lists.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "store/errors.h"

namespace jipsa::store {

using nlohmann::json;

std::string join_ended(const std::vector<std::string>& items) {
  std::string joined;
  std::size_t size = 0;
  for (const auto& item : items) size += item.size() + 1;
  joined.reserve(size);
  for (const auto& item : items) {
    joined += item;
    joined += '\0';
  }
  return joined;
}

std::vector<std::string> split_ended(std::string_view joined) {
  std::vector<std::string> items;
  items.reserve(static_cast<std::size_t>(std::count(joined.begin(), joined.end(), '\0')));
  while (!joined.empty()) {
    const auto end = joined.find('\0');
    if (end == std::string_view::npos) throw DamagedRow("a list without its end");
    items.emplace_back(joined.substr(0, end));
    joined.remove_prefix(end + 1);
  }
  return items;
}

bool has_nul(const std::vector<std::string>& items) {
  return std::any_of(items.begin(), items.end(), [](const auto& item) { return item.find('\0') != std::string::npos; });
}

Result<std::string> needs_to_json(const std::vector<Need>& needs) {
  json list = json::array();
  for (const auto& need : needs) list.push_back(json::array({need.pool, need.bytes.count()}));
  try {
    return list.dump();
  } catch (const json::exception&) {
    return fail(Code::bad_input, "needs: a pool name that is not UTF-8; pools are gpu, gpu0, ram");
  }
}

std::vector<Need> needs_from_json(std::string_view text) {
  if (text == "[]") return {};
  try {
    std::vector<Need> needs;
    const json list = json::parse(text);
    if (!list.is_array()) throw DamagedRow("needs are not a list");
    for (const auto& item : list)
      needs.push_back({item.at(0).get_ref<const std::string&>(), Bytes{item.at(1).get<std::int64_t>()}});
    return needs;
  } catch (const json::exception& e) { throw DamagedRow(std::string("needs: ") + e.what()); }
}

std::string ids_to_json(const std::vector<JobId>& ids) { return json(ids).dump(); }

std::vector<JobId> ids_from_json(std::string_view text) {
  if (text == "[]") return {};
  try {
    return json::parse(text).get<std::vector<JobId>>();
  } catch (const json::exception& e) { throw DamagedRow(std::string("job ids: ") + e.what()); }
}

}  // namespace jipsa::store
