// One turn: an input is stamped, recorded, decided upon, and its decisions are recorded and handed on. Every input comes through
// here.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/engine.h"
#include "core/state.h"
#include "daemon/record_clock.h"
#include "daemon/recorder.h"

namespace jipsa {

class Turn {
 public:
  struct Hooks {
    std::function<void(const Output&, const Event& cause)> decided;
    std::function<void()> settle;              // no input is left: save what has changed and act
    std::function<std::vector<Event>()> jobs;  // the unfinished jobs as inputs, for a core that starts anew
  };
  Turn(Policy policy, RecordClock& clock, Recorder& recorder, std::string host);

  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  // Begins a recording with a core that knows `state` and the unfinished jobs. What it says of waiting jobs meanwhile is not
  // news.
  void begin(const EngineState& state);

  // Feeds it now, or, from within a turn, after the inputs that are already there.
  void feed(Event event);
  void feed(std::vector<Event> events);  // in one turn: what follows from all of them is saved together

  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] bool beginning() const { return beginning_; }

 private:
  void run();
  void keep_news(Observation& look);
  void step(Event event);
  [[nodiscard]] bool wants_new_recording();

  Policy policy_;
  RecordClock& clock_;
  Recorder& recorder_;
  std::string host_;
  Hooks hooks_;
  Engine engine_;
  Observation last_look_;
  std::deque<Event> queue_;
  bool in_turn_ = false, beginning_ = false;
  Seconds begin_tried_ = 0;
};

}  // namespace jipsa
