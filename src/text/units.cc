#include "text/units.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace jipsa {
namespace {

std::string tenths(std::uint64_t value) { return std::to_string(value / 10) + '.' + static_cast<char>('0' + value % 10); }

struct Unit {
  const char *en, *ko;
};
constexpr Unit seconds_unit{" s", "초"}, minutes_unit{" min", "분"}, hours_unit{" h", "시간"}, days_unit{" d", "일"};

std::string of(Lang lang, std::int64_t count, Unit unit) {
  return std::to_string(count) + (lang == Lang::ko ? unit.ko : unit.en);
}

std::string two(Lang lang, std::int64_t big, Unit big_unit, std::int64_t small, Unit small_unit) {
  std::string out = of(lang, big, big_unit);
  if (small > 0) out += ' ' + of(lang, small, small_unit);
  return out;
}

// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
std::int64_t days_from_civil(std::int64_t y, int m, int d) {
  y -= m <= 2 ? 1 : 0;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t yoe = y - era * 400;
  const std::int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

// Reads `digits` digits at `at`; -1 if they are not all there.
int digits_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::tm local(std::int64_t wall_ms) {
  const std::time_t t = static_cast<std::time_t>(wall_ms >= 0 ? wall_ms / 1000 : (wall_ms - 999) / 1000);
  std::tm parts{};
  localtime_r(&t, &parts);
  return parts;
}

std::string day_text(Lang lang, const std::tm& day, bool with_year) {
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string year = std::to_string(day.tm_year + 1900), date = std::to_string(day.tm_mday);
  if (lang == Lang::ko) {
    const std::string short_day = std::to_string(day.tm_mon + 1) + "월 " + date + "일";
    return with_year ? year + "년 " + short_day : short_day;
  }
  const std::string short_day = date + ' ' + months[day.tm_mon % 12];
  return with_year ? short_day + ' ' + year : short_day;
}

}  // namespace

std::string gib_number(std::optional<Bytes> amount) {
  if (!amount) return "?";
  const std::int64_t count = amount->count();
  const bool negative = count < 0;
  const std::uint64_t size = negative ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  constexpr std::uint64_t unit = std::uint64_t{1} << 30;
  const std::uint64_t rounded = size / unit * 10 + (size % unit * 10 + unit / 2) / unit;
  if (rounded == 0 && size > 0) return negative ? "-<0.1" : "<0.1";
  return (negative ? "-" : "") + tenths(rounded);
}

std::string gib_text(std::optional<Bytes> amount) { return amount ? gib_number(amount) + " GiB" : "?"; }

std::string duration_text(Lang lang, double seconds) {
  constexpr double longest = 1e10;  // some three hundred years: beyond it somebody's clock is wrong
  const auto s = static_cast<std::int64_t>(seconds > 0 ? std::fmin(seconds, longest) : 0);
  if (s < 60) return of(lang, s, seconds_unit);
  if (s < 600) return two(lang, s / 60, minutes_unit, s % 60, seconds_unit);
  if (s < 3600) return of(lang, s / 60, minutes_unit);
  if (s < 48 * 3600) return two(lang, s / 3600, hours_unit, s / 60 % 60, minutes_unit);
  return two(lang, s / 86400, days_unit, s / 3600 % 24, hours_unit);
}

std::string span_text(Lang lang, double seconds) {
  if (!(seconds > 0)) seconds = 0;
  if (seconds >= 60) return duration_text(lang, seconds);
  return tenths(static_cast<std::uint64_t>(std::lround(seconds * 10))) + (lang == Lang::ko ? seconds_unit.ko : seconds_unit.en);
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  const int year = digits_at(text, 0, 4), month = digits_at(text, 5, 2), day = digits_at(text, 8, 2);
  const int hour = digits_at(text, 11, 2), minute = digits_at(text, 14, 2), second = digits_at(text, 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  std::size_t at = 19;
  std::int64_t millis = 0;
  if (at < text.size() && text[at] == '.') {
    std::int64_t scale = 100;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10) millis += (text[at] - '0') * scale;
  }
  std::int64_t offset = 0;
  const std::string_view zone = text.substr(at);
  if (zone != "Z" && zone != "z") {
    const int zone_hour = digits_at(zone, 1, 2), zone_minute = digits_at(zone, 4, 2);
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone_hour < 0 || zone_minute < 0) return std::nullopt;
    offset = (zone_hour * 60 + zone_minute) * (zone[0] == '-' ? -60 : 60);
  }
  const std::int64_t whole = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
  return whole * 1000 + millis;
}

std::string clock_text(Lang lang, std::int64_t wall_ms, std::int64_t now_ms, ClockDetail detail) {
  const std::tm then = local(wall_ms), now = local(now_ms);
  std::array<char, 32> clock{};
  if (detail == ClockDetail::seconds) {
    std::snprintf(clock.data(), clock.size(), "%02d:%02d:%02d", then.tm_hour, then.tm_min, then.tm_sec);
  } else {
    std::snprintf(clock.data(), clock.size(), "%02d:%02d", then.tm_hour, then.tm_min);
  }
  const bool same_year = then.tm_year == now.tm_year;
  if (same_year && then.tm_yday == now.tm_yday) return clock.data();
  return day_text(lang, then, !same_year) + ' ' + clock.data();
}

}  // namespace jipsa
