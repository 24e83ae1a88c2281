#include "machine/nvml/cards.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace jipsa::nvml {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t first_wait = second / 2, longest_wait = 30 * second, look_again = 5 * second;

std::int64_t now_ns() { return boot_time_ns(); }

// Codes after which every handle is worthless.
bool driver_gone(int rc) {
  return rc == code::uninitialized || rc == code::driver_not_loaded || rc == code::operating_system ||
         rc == code::version_mismatch;
}

bool card_gone(int rc) { return rc == code::lost || rc == code::reset_required; }

// Names are for people and go into JSON: what is no plain text in them is not passed on.
template <class Call, class... Args>
std::string text_of(Call call, Args... args) {
  char buffer[96] = {};
  if (!call || call(args..., buffer, sizeof buffer) != code::ok) return "";
  buffer[sizeof buffer - 1] = '\0';
  std::string text(buffer);
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

std::int64_t boot_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * second + now.tv_nsec;
}

DriverReading Cards::read(bool processes) {
  DriverReading reading = ask(processes);
  reading.driver_version = driver_version_;
  reading.steady_ns = now_ns();
  return reading;
}

DriverReading Cards::ask(bool processes) {
  if (!ready_) {
    if (now_ns() < not_before_) return failed(last_);
    if (const auto failure = init()) return failed(*failure);
  }
  if (stale_ && now_ns() >= enumerate_at_) {
    if (const auto failure = enumerate()) return failed(*failure);
  }
  DriverReading reading;
  reading.state = DriverReading::State::ok;
  for (Card& card : cards_) {
    if (const auto failure = read_card(card, processes, reading.gpus.emplace_back())) return failed(*failure);
  }
  if (cards_.empty()) stale_ = true;
  wait_ns_ = 0;
  return reading;
}

DriverReading Cards::failed(const Failure& failure) {
  if (now_ns() >= not_before_) {
    drop();
    wait_ns_ = std::clamp(2 * wait_ns_, first_wait, longest_wait);
    not_before_ = now_ns() + wait_ns_;
    last_ = failure;
    worn_ = failure.code == code::version_mismatch;
  }
  DriverReading reading;
  reading.state = DriverReading::State::failed;
  reading.trouble = std::string(failure.call) + ": " + std::to_string(failure.code) + " (" + trouble_of(failure.code) + ")";
  return reading;
}

void Cards::drop() {
  if (ready_ && calls_.shutdown) calls_.shutdown();
  ready_ = false;
  stale_ = true;
  enumerate_at_ = 0;
  for (Card& card : cards_) card.handle = nullptr;
}

std::optional<Failure> Cards::init() {
  if (const int rc = calls_.init()) return Failure{"nvmlInit_v2", rc};
  ready_ = true;
  driver_version_ = text_of(calls_.driver_version);
  return std::nullopt;
}

std::optional<Failure> Cards::enumerate() {
  unsigned count = 0;
  if (const int rc = calls_.count(&count)) return Failure{"nvmlDeviceGetCount_v2", rc};
  stale_ = false;
  enumerate_at_ = now_ns() + look_again;
  for (Card& card : cards_) {
    card.handle = nullptr;
    card.code = code::lost;  // until it is found again
  }
  for (unsigned index = 0; index < count; ++index) {
    Device handle = nullptr;
    const int rc = calls_.handle(index, &handle);
    if (driver_gone(rc)) return Failure{"nvmlDeviceGetHandleByIndex_v2", rc};
    const std::string uuid = rc == code::ok ? text_of(calls_.uuid, handle) : "";
    Card& card = known(uuid, index);
    card.index = index;
    card.handle = handle;
    card.code = rc;
    if (rc == code::ok) card.name = text_of(calls_.name, handle);
    if (card.code != code::ok) stale_ = true;
  }
  for (const Card& card : cards_) stale_ = stale_ || card.code != code::ok;
  return std::nullopt;
}

// A card that does not even give a handle can only be told by its index.
Cards::Card& Cards::known(const std::string& uuid, unsigned index) {
  const auto same = [&](const Card& card) { return uuid.empty() ? card.index == index : card.uuid == uuid; };
  auto found = std::find_if(cards_.begin(), cards_.end(), same);
  if (found == cards_.end()) {
    const auto nameless = [&](const Card& card) { return card.uuid.empty() && card.index == index; };
    found = std::find_if(cards_.begin(), cards_.end(), nameless);
  }
  if (found == cards_.end()) found = cards_.insert(cards_.end(), Card{});
  if (!uuid.empty()) found->uuid = uuid;
  return *found;
}

std::optional<Failure> Cards::read_card(Card& card, bool processes, GpuReading& out) {
  out.index = card.index;
  out.uuid = card.uuid;
  out.name = card.name;
  if (card.code != code::ok) return out.trouble = trouble_of(card.code), std::nullopt;
  MemoryBooks books;
  Failure failure;
  failure.code = read_memory(card.handle, books, failure.call);
  ProcessReading rows;
  if (failure.code == code::ok && processes) {
    rows = lists_.read(card.handle, books.total);
    failure = rows.failure.value_or(failure);
  }
  if (driver_gone(failure.code)) return failure;
  if (card_gone(failure.code)) {  // what was read just before is not known any more either
    stale_ = true;
    card.code = failure.code;
    enumerate_at_ = now_ns() + look_again;
    return out.trouble = trouble_of(failure.code), std::nullopt;
  }
  out.trouble = failure.code ? trouble_of(failure.code) : books.trouble.empty() ? rows.trouble : books.trouble;
  if (failure.code) return std::nullopt;
  out.total = books.total;
  out.used = books.used;
  out.free = books.free;
  out.reserved = books.reserved;
  out.processes = std::move(rows.processes);
  return std::nullopt;
}

int Cards::read_memory(Device handle, MemoryBooks& books, const char*& call) {
  int rc = code::function_not_found;
  if (calls_.memory_v2 && !refused_v2_) {
    call = "nvmlDeviceGetMemoryInfo_v2";
    MemoryV2 read;
    read.version = memory_v2_version;
    rc = calls_.memory_v2(handle, &read);
    if (rc == code::ok) books = books_of(read);
    if (rc == code::argument_version) {
      refused_v2_ = true;
      std::fputs("event=nvml_memory_v2_refused code=25 instead=nvmlDeviceGetMemoryInfo\n", stderr);
    }
  }
  // Only a call that is not there, or sums that make no sense, are reasons to ask the older call; other codes are answers.
  const bool older = rc == code::argument_version || rc == code::function_not_found || rc == code::library_not_found ||
                     rc == code::not_supported || (rc == code::ok && books.trouble == "memory_sums");
  if (!older || !calls_.memory_v1) return rc;
  call = "nvmlDeviceGetMemoryInfo";
  MemoryV1 read;
  rc = calls_.memory_v1(handle, &read);
  if (rc == code::ok) books = books_of(read);
  return rc;
}

}  // namespace jipsa::nvml
