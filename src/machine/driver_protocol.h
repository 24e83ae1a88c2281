// What the daemon and its helper jipsa-nvml say to each other: lines of text.
//   request   read totals 7            or   read processes 7
//   answer    begin 7, then KEY=VALUE lines, then end 7. "gpu=INDEX" opens a card and "processes=known" its list; later lines
//   belong
//             to it. A key that is absent is unknown. In values, '%' and control bytes are written %XX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "machine/sense.h"

namespace jipsa {

struct DriverRequest {
  std::uint64_t id = 0;
  bool processes = false;
};

struct DriverAnswer {
  std::uint64_t id = 0;
  DriverReading reading;
};

std::string write_request(const DriverRequest& request);     // with its line end
Result<DriverRequest> parse_request(std::string_view line);  // without
std::string write_answer(const DriverAnswer& answer);

// Takes an answer in pieces of any size.
class AnswerReader {
 public:
  // Appends every answer that is now whole. After an error the stream cannot be trusted any more.
  Result<void> feed(std::string_view bytes, std::vector<DriverAnswer>& out);

 private:
  Result<void> line(std::string_view text, std::vector<DriverAnswer>& out);
  Result<void> open(std::string_view text);
  bool take(std::string_view key, const std::string& value);  // false: the key does not allow this value
  bool take_card(std::string_view key, const std::string& value);

  std::string rest_;                  // a line that has not ended yet
  std::optional<DriverAnswer> open_;  // an answer that has not ended yet
  std::size_t lines_ = 0;             // of the open answer
};

}  // namespace jipsa
