// The log: standard error, one line a change, `event key=value …`. Never commands' environments or instruction texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace jipsa {

void log_line(std::string_view event, std::initializer_list<std::pair<std::string_view, std::string>> fields = {});

}  // namespace jipsa
