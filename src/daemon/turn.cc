#include "daemon/turn.h"

#include <utility>

#include "daemon/json_text.h"
#include "wire/state.h"

namespace jipsa {

Turn::Turn(Policy policy, RecordClock& clock, Recorder& recorder, std::string host)
    : policy_(std::move(policy)), clock_(clock), recorder_(recorder), host_(std::move(host)), engine_(policy_) {}

// The core's memory does not name the jobs, so they are told to it again. It is paused meanwhile: a job that runs must not be
// admitted a second time before the core hears that it has started.
void Turn::begin(const EngineState& state) {
  begin_tried_ = clock_.now();
  EngineState at_rest = state;
  const bool paused = std::exchange(at_rest.paused, false);
  engine_ = Engine(policy_, at_rest);
  RecordingHeader header;
  header.policy = policy_;
  header.started = rfc3339(clock_.to_wall_ms(0));
  header.host = host_;
  recorder_.begin(header, clock_.now(), state_to_json(at_rest), clock_.wall_ms());
  const bool outer = std::exchange(in_turn_, true);
  beginning_ = true;
  step(Pause{});
  if (last_look_.pools) step(last_look_);
  for (Event& event : hooks_.jobs()) step(std::move(event));
  if (!paused) step(Resume{});
  beginning_ = false;
  recorder_.begun();
  in_turn_ = outer;
  if (!outer) run();
}

bool Turn::wants_new_recording() {
  if (recorder_.full()) return true;
  // A recording that can't be written is tried again, but not at every look.
  return !recorder_.trouble().empty() && clock_.now() - begin_tried_ >= 60;
}

void Turn::feed(Event event) {
  queue_.push_back(std::move(event));
  if (!in_turn_) run();
}

void Turn::feed(std::vector<Event> events) {
  for (Event& event : events) queue_.push_back(std::move(event));
  if (!in_turn_) run();
}

void Turn::run() {
  in_turn_ = true;
  while (true) {
    while (!queue_.empty()) {
      Event event = std::move(queue_.front());
      queue_.pop_front();
      step(std::move(event));
    }
    hooks_.settle();
    if (!queue_.empty()) continue;
    if (!wants_new_recording()) break;
    begin(engine_.state());
  }
  in_turn_ = false;
}

// A section that says what the look before said is left out, as in the recording: a replay must see just what the core saw.
void Turn::keep_news(Observation& look) {
  const auto keep = [](auto& section, auto& last) {
    if (section && last && *section == *last) {
      section.reset();
    } else if (section) {
      last = section;
    }
  };
  keep(look.pools, last_look_.pools);
  keep(look.processes, last_look_.processes);
  keep(look.tenants, last_look_.tenants);
}

void Turn::step(Event event) {
  if (auto* look = std::get_if<Observation>(&event); look != nullptr && !beginning_) keep_news(*look);
  const Input input{clock_.now(), std::move(event)};
  recorder_.input(input);
  std::vector<Output> outputs;
  engine_.step(input, outputs);
  if (outputs.empty()) return;
  for (const Output& output : outputs) recorder_.output(output);
  recorder_.flush();
  for (const Output& output : outputs) hooks_.decided(output, input.event);
}

}  // namespace jipsa
