#include "store/store.h"

#include <utility>

#include "store/impl.h"
#include "store/open.h"

namespace jipsa {

const char* name(JobState state) {
  switch (state) {
    case JobState::waiting:
      return "waiting";
    case JobState::held:
      return "held";
    case JobState::starting:
      return "starting";
    case JobState::running:
      return "running";
    case JobState::succeeded:
      return "succeeded";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
    case JobState::lost:
      return "lost";
  }
  return "lost";
}

bool is_final(JobState state) { return state >= JobState::succeeded; }

Store::Store() = default;
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& dir) {
  const std::string path = dir + "/jipsa.db";
  return store::guarded(path, nullptr, [&]() -> Result<std::unique_ptr<Store>> {
    auto db = store::open_database(dir, path);
    if (!db) return tl::unexpected<Error>(db.error());
    std::unique_ptr<Store> opened(new Store);
    opened->impl_ = std::make_unique<Impl>(path, std::move(*db));
    return opened;
  });
}

Result<void> Store::put(const std::string& key, const std::string& value) {
  // The condition spares the sync where nothing changes.
  return impl_->write([&]() -> Result<void> {
    store::Use use(
        impl_->prepared("INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
                        "WHERE value IS NOT excluded.value"));
    use.text(key).text(value).step();
    return {};
  });
}

Result<std::optional<std::string>> Store::get(const std::string& key) const {
  return impl_->read([&]() -> Result<std::optional<std::string>> {
    store::Use use(impl_->prepared("SELECT value FROM facts WHERE key = ?"));
    if (!use.text(key).step()) return std::optional<std::string>{};
    return store::text_at(use.row(), 0);
  });
}

}  // namespace jipsa
