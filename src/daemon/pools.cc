#include "daemon/pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace jipsa {
namespace {

constexpr std::int64_t kListsLive_ns = 15'000'000'000;
constexpr Bytes kJump = mib(64);

bool lists(const GpuReading& gpu, Pid pid) {
  return gpu.processes &&
         std::any_of(gpu.processes->begin(), gpu.processes->end(), [&](const DeviceProcess& p) { return p.pid == pid; });
}

// A server's figure of the total and the driver's differ by what the driver keeps for itself.
bool near(const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
  if (!a || !b || b->count() <= 0) return false;
  return std::llabs((*a - *b).count()) <= b->count() / 20;
}

bool moved(const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
  if (!a || !b) return a.has_value() != b.has_value();
  return *a - *b > kJump || *b - *a > kJump;
}

}  // namespace

Pools::Card& Pools::card_for(const GpuReading& gpu) {
  const auto known = std::find_if(cards_.begin(), cards_.end(), [&](const Card& c) { return c.uuid == gpu.uuid; });
  if (known != cards_.end()) return *known;
  unsigned number = gpu.index;
  const auto taken = [&](unsigned n) { return find("gpu" + std::to_string(n)) != nullptr; };
  while (taken(number)) ++number;
  Card card;
  card.id = "gpu" + std::to_string(number);
  card.uuid = gpu.uuid;
  cards_.push_back(std::move(card));
  return cards_.back();
}

void Pools::take(const DriverReading& reading) {
  reading_ = reading;
  // What was remembered was a promise that the driver would speak of it.
  const bool first = !spoken_ && (reading.state == DriverReading::State::ok || reading.state == DriverReading::State::none);
  if (first) {
    spoken_ = true;
    std::erase_if(cards_, [&](const Card& card) {
      return std::none_of(reading.gpus.begin(), reading.gpus.end(), [&](const GpuReading& gpu) { return gpu.uuid == card.uuid; });
    });
  }
  if (reading.state != DriverReading::State::ok) return;
  for (Card& card : cards_) card.present = false;
  for (const GpuReading& gpu : reading.gpus) {
    Card& card = card_for(gpu);
    card.present = true;
    auto lists_before = std::move(card.reading.processes);
    card.reading = gpu;
    card.steady_ns = reading.steady_ns;
    if (gpu.processes) {
      card.listed_ns = reading.steady_ns;
      card.used_when_listed = gpu.used;
    } else if (reading.steady_ns - card.listed_ns < kListsLive_ns) {
      card.reading.processes = std::move(lists_before);
    }
  }
}

std::vector<Pool> Pools::at(std::int64_t steady_ns, std::chrono::nanoseconds max_age) const {
  std::vector<Pool> pools;
  for (const Card& card : cards_) {
    Pool pool;
    pool.id = card.id;
    pool.kind = PoolKind::gpu;
    pool.name = card.reading.name;
    pool.uuid = card.uuid;
    pool.total = card.reading.total;
    const bool fresh =
        reading_.state == DriverReading::State::ok && card.present && steady_ns - card.steady_ns <= max_age.count();
    if (fresh) {
      pool.used = card.reading.used;
      pool.free = card.reading.free;
      pool.reserved = card.reading.reserved;
      pool.processes = card.reading.processes;
    }
    pools.push_back(std::move(pool));
  }
  Pool ram;
  ram.id = "ram";
  ram.kind = PoolKind::ram;
  ram.total = memory_.total;
  ram.available = memory_.available;
  pools.push_back(std::move(ram));
  return pools;
}

bool Pools::lists_outdated() const {
  return std::any_of(cards_.begin(), cards_.end(),
                     [](const Card& c) { return c.present && c.listed_ns != 0 && moved(c.reading.used, c.used_when_listed); });
}

// A server numbers the cards that it was allowed to see, which need not be the driver's numbers. Its number is believed only for
// a card of that size; else the card must be the only one of that size, or the only such one that lists the server's process.
const Pools::Card* Pools::card_of(const DeviceReport& device, std::optional<Pid> server) const {
  std::vector<const Card*> same_size;
  for (const Card& card : cards_) {
    if (card.present && near(device.total, card.reading.total)) same_size.push_back(&card);
  }
  std::vector<const Card*> listing;
  if (server) {
    std::copy_if(same_size.begin(), same_size.end(), std::back_inserter(listing),
                 [&](const Card* c) { return lists(c->reading, *server); });
  }
  if (listing.size() == 1) return listing.front();
  for (const Card* card : same_size) {
    if (device.index && card->reading.index == *device.index) return card;
  }
  return same_size.size() == 1 ? same_size.front() : nullptr;
}

std::optional<Report> Pools::report_of(const std::vector<DeviceReport>& devices, std::optional<Pid> server) const {
  for (const DeviceReport& device : devices) {
    Report report;
    if (device.host_memory) {
      report.pool = "ram";
    } else if (const Card* card = card_of(device, server)) {
      report.pool = card->id;
    } else {
      continue;
    }
    report.total = device.total;
    report.free = device.free;
    report.own = device.own;
    report.models = device.models;
    return report;
  }
  return std::nullopt;
}

std::vector<Pid> Pools::listed_pids() const {
  std::vector<Pid> pids;
  for (const Card& card : cards_) {
    if (!card.reading.processes) continue;
    for (const DeviceProcess& p : *card.reading.processes) pids.push_back(p.pid);
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

const Pools::Card* Pools::find(const std::string& pool) const {
  const auto it = std::find_if(cards_.begin(), cards_.end(), [&](const Card& c) { return c.id == pool; });
  return it == cards_.end() ? nullptr : &*it;
}

std::string Pools::uuid_of(const std::string& pool) const {
  const Card* card = find(pool);
  return card != nullptr ? card->uuid : "";
}

std::string Pools::trouble_of(const std::string& pool, std::int64_t steady_ns, std::chrono::nanoseconds max_age) const {
  if (pool == "ram") return memory_.available ? "" : "unreadable";
  const Card* card = find(pool);
  if (card == nullptr) return "gone";
  switch (reading_.state) {
    case DriverReading::State::none:
      return "no_driver";
    case DriverReading::State::failed:
      return reading_.trouble.empty() ? "driver_failed" : reading_.trouble;
    case DriverReading::State::silent:
      return "driver_silent";
    case DriverReading::State::ok:
      break;
  }
  if (!card->present) return "gone";
  if (!card->reading.trouble.empty()) return card->reading.trouble;
  return steady_ns - card->steady_ns > max_age.count() ? "stale" : "";
}

void Pools::remember(const std::string& cards) {
  std::istringstream lines(cards);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Card card;
    std::int64_t total = 0;
    if (!(words >> card.id >> card.uuid >> total) || card.id.rfind("gpu", 0) != 0) continue;
    card.reading.uuid = card.uuid;
    card.reading.total = Bytes{total};
    std::getline(words >> std::ws, card.reading.name);
    cards_.push_back(std::move(card));
  }
}

std::string Pools::remembered() const {
  std::string cards;
  for (const Card& card : cards_) {
    if (!card.uuid.empty() && card.reading.total) {
      cards += fmt::format("{} {} {} {}\n", card.id, card.uuid, card.reading.total->count(), card.reading.name);
    }
  }
  return cards;
}

std::optional<double> Pools::age_of(const std::string& pool, std::int64_t steady_ns) const {
  const auto age = [&](std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(0, steady_ns - ns)) / 1e9; };
  if (pool == "ram") return memory_ns_ == 0 ? std::nullopt : std::optional<double>(age(memory_ns_));
  const Card* card = find(pool);
  if (card == nullptr || card->steady_ns == 0) return std::nullopt;
  return age(card->steady_ns);
}

}  // namespace jipsa
