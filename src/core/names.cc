#include "core/decision.h"

namespace jipsa {

std::string to_string(const Owner& owner) {
  switch (owner.kind) {
    case OwnerKind::job:
      return "job:" + owner.name;
    case OwnerKind::tenant:
      return "tenant:" + owner.name;
    case OwnerKind::process:
      return "process:" + owner.name;
    case OwnerKind::baseline:
      return "baseline";
    case OwnerKind::driver:
      return "driver";
    case OwnerKind::unexplained:
      return "unexplained";
  }
  return "unexplained";
}

const char* name(How how) {
  switch (how) {
    case How::measured:
      return "measured";
    case How::reported:
      return "reported";
    case How::traced:
      return "traced";
    case How::eliminated:
      return "eliminated";
    case How::estimated:
      return "estimated";
    case How::shared:
      return "shared";
  }
  return "shared";
}

const char* name(WaitCode code) {
  switch (code) {
    case WaitCode::leftover:
      return "leftover";
    case WaitCode::releasing:
      return "releasing";
    case WaitCode::unsafe:
      return "unsafe";
    case WaitCode::kept:
      return "kept";
    case WaitCode::tenant_busy:
      return "tenant_busy";
    case WaitCode::tenant_stuck:
      return "tenant_stuck";
    case WaitCode::running_job:
      return "running_job";
    case WaitCode::other_process:
      return "other_process";
    case WaitCode::unexplained:
      return "unexplained";
    case WaitCode::baseline:
      return "baseline";
    case WaitCode::never_fits:
      return "never_fits";
    case WaitCode::order:
      return "order";
    case WaitCode::dependency:
      return "dependency";
    case WaitCode::held:
      return "held";
    case WaitCode::paused:
      return "paused";
    case WaitCode::stale:
      return "stale";
  }
  return "stale";
}

const char* name(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::released:
      return "released";
    case VerdictKind::late:
      return "late";
    case VerdictKind::partial:
      return "partial";
    case VerdictKind::kept:
      return "kept";
    case VerdictKind::kept_by_allocator:
      return "kept_by_allocator";
    case VerdictKind::at_floor:
      return "at_floor";
    case VerdictKind::not_acted:
      return "not_acted";
    case VerdictKind::moved:
      return "moved";
    case VerdictKind::raced:
      return "raced";
    case VerdictKind::refused:
      return "refused";
    case VerdictKind::unreachable:
      return "unreachable";
    case VerdictKind::died:
      return "died";
    case VerdictKind::regrown:
      return "regrown";
  }
  return "kept";
}

const char* name(PoolKind kind) { return kind == PoolKind::gpu ? "gpu" : "ram"; }

}  // namespace jipsa
