#include "hal/run/device_segments.h"

#include <algorithm>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "hal/device/stopping.h"
#include "hal/run/watchdog_slices.h"

namespace hearth {
namespace {

template <typename Slices>
size_t CountOf(const Slices& slices) {
  size_t count = 0;
  for (const auto& of_segment : slices) count += of_segment.size();
  return count;
}

}  // namespace

DeviceSegments::DeviceSegments(const LoadedPlan& plan, MorePrograms& programs, RunSlots& slots)
    : plan_(plan), programs_(programs), slots_(slots), part_programs_(plan.plan().kernels.size()) {}

Status DeviceSegments::Cut(double correction) {
  const DeviceInfo& info = plan_.device().info();
  const auto& own_limit_ms = plan_.request().slice_limit_ms;
  std::vector<std::vector<Slice>> slices;
  for (const Segment& segment : plan_.plan().segments) {
    std::vector<Slice>& of_segment = slices.emplace_back();
    for (auto& parts :
         SlicesOf(plan_.plan(), segment, info, own_limit_ms ? own_limit_ms : SliceLimitMs(info), correction))
      of_segment.push_back({std::move(parts), nullptr});
  }
  if (!slices_.empty() && CountOf(slices) == CountOf(slices_)) return Status::Ok();
  HEARTH_TRY(LoadPartPrograms(slices));
  if (whole_is_stale_) whole_.clear();  // released before the memory that it uses
  HEARTH_ASSIGN(Executables whole, PrepareWhole(slices));
  for (std::vector<Slice>& of_segment : slices) {
    for (Slice& slice : of_segment) {
      if (plan_.request().stop.stop_requested()) return Stopped();
      if (whole.empty()) HEARTH_TRY(ExecutableOf(slice).status());
    }
  }
  HEARTH_TRY(Wait());  // for the last run, which belongs to the earlier executables
  slices_ = std::move(slices);
  whole_ = std::move(whole);
  return Status::Ok();
}

Status DeviceSegments::LoadPartPrograms(std::span<const std::vector<Slice>> slices) {
  const Plan& plan = plan_.plan();
  std::vector<uint32_t> kernels;
  std::vector<KernelSource> sources;
  for (const std::vector<Slice>& of_segment : slices) {
    for (const Slice& slice : of_segment) {
      for (const DispatchPart& part : slice.dispatches) {
        const uint32_t kernel = plan.dispatches[part.dispatch].kernel;
        if (part.is_whole || part_programs_[kernel] != nullptr || Contains(kernels, kernel)) continue;
        kernels.push_back(kernel);
        sources.push_back(WithFirstGroup(plan.kernels[kernel]));
      }
    }
  }
  // Other threads may be using the held programs while this plan runs.
  SharedPrograms* const held = slices_.empty() ? plan_.request().shared_programs.get() : nullptr;
  HEARTH_TRY(programs_.Load(sources, plan_.request().stop, held));
  for (size_t k = 0; k < kernels.size(); ++k) part_programs_[kernels[k]] = programs_.Find(sources[k]);
  return Status::Ok();
}

Result<Executable*> DeviceSegments::ExecutableOf(Slice& slice) const {
  if (slice.executable == nullptr) {
    CommandRecorder recorder;
    plan_.Record(slice.dispatches, part_programs_, recorder);
    HEARTH_ASSIGN(slice.executable, plan_.device().Prepare(recorder.Finish()));
  }
  return slice.executable.get();
}

Result<DeviceSegments::Executables> DeviceSegments::PrepareWhole(std::span<const std::vector<Slice>> slices) {
  Executables whole;
  const bool is_of_device =
      !plan_.plan().runs_on_cpu() && std::ranges::all_of(plan_.plan().states, &PlanState::on_device);
  if (!is_of_device || CountOf(slices) == 0) return whole;
  HEARTH_ASSIGN(const bool is_staged, slots_.StagesAlone());
  if (!is_staged) return whole;
  const std::vector<Slice>& all = slices.front();  // one segment has all dispatches
  for (const Slice& slice : all) {
    CommandRecorder recorder;
    if (&slice == &all.front()) slots_.RecordAlone(Side::kInput, recorder);
    plan_.Record(slice.dispatches, part_programs_, recorder);
    if (&slice == &all.back()) slots_.RecordAlone(Side::kOutput, recorder);
    HEARTH_ASSIGN(whole.emplace_back(), plan_.device().Prepare(recorder.Finish()));
  }
  return whole;
}

Status DeviceSegments::RenewWhole() {
  if (!whole_is_stale_) return Status::Ok();
  whole_.clear();  // released before the memory that it uses
  HEARTH_ASSIGN(whole_, PrepareWhole(slices_));
  whole_is_stale_ = false;
  return Status::Ok();
}

Status DeviceSegments::Submit(Executable& executable) {
  HEARTH_ASSIGN(last_submission_, executable.Submit());
  submissions_.push_back(last_submission_);
  last_submitted_ = &executable;
  return Status::Ok();
}

Status DeviceSegments::RunWhole() {
  for (const std::unique_ptr<Executable>& executable : whole_) HEARTH_TRY(Submit(*executable));
  return Status::Ok();
}

Status DeviceSegments::Run(size_t segment, SegmentRun& run) {
  if (run.profile != nullptr) HEARTH_TRY(Wait());
  for (Slice& slice : slices_[segment]) {
    if (run.profile != nullptr) {
      HEARTH_TRY(Profile(slice, *run.profile));
      continue;
    }
    HEARTH_ASSIGN(Executable * executable, ExecutableOf(slice));
    HEARTH_TRY(Submit(*executable));
  }
  return Status::Ok();
}

Status DeviceSegments::Profile(Slice& slice, std::vector<ProfileRow>& profile) {
  HEARTH_ASSIGN(Executable * executable, ExecutableOf(slice));
  HEARTH_ASSIGN(const std::vector<double> times_ms, executable->RunProfiled());
  for (size_t k = 0; k < slice.dispatches.size() && k < times_ms.size(); ++k) {
    const DispatchPart& part = slice.dispatches[k];
    const Dispatch& dispatch = plan_.plan().dispatches[part.dispatch];
    if (part.is_first()) profile.push_back({dispatch.label, plan_.plan().kernels[dispatch.kernel].name, 0});
    profile.back().milliseconds += times_ms[k];
  }
  return Status::Ok();
}

Status DeviceSegments::Wait() {
  if (last_submitted_ == nullptr) return Status::Ok();
  // The last one is waited for first. Waits for the others then return at once, with their own errors.
  Executable& executable = *std::exchange(last_submitted_, nullptr);
  const Status of_last = executable.Wait(last_submission_);
  for (const uint64_t number : submissions_) {
    if (number != last_submission_) HEARTH_TRY(executable.Wait(number));
  }
  return of_last;
}

}  // namespace hearth
