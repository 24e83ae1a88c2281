// The adapter for ComfyUI (versions from 2023-06 on; releasing needs 2024-01-04).
#pragma once

#include <memory>
#include <string>

#include "tenants/tenant.h"

namespace jipsa {

// A look is GET /system_stats and GET /prompt (a few bytes: how much is queued), then, only while something is queued, GET /queue
// to tell running from pending (whole workflows: capped), or, while nothing is, GET /history?max_items=1 for when it last worked.
// Destroying the adapter drops the answers that are still to come.
class ComfyUi final : public Tenant {
 public:
  ComfyUi(std::string address, HttpClient& http);  // without a slash at the end
  ~ComfyUi() override;
  ComfyUi(const ComfyUi&) = delete;
  ComfyUi& operator=(const ComfyUi&) = delete;

  void look(std::function<void(TenantAnswer)> done) override;
  void release(std::function<void(ReleaseAnswer)> done) override;

 private:
  struct Looking;
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace jipsa
