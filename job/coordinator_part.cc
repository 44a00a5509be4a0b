#include "job/coordinator_part.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "core/model_names.h"
#include "job/checkpoint_reader.h"
#include "job/options_from_flags.h"
#include "job/start_number.h"
#include "job/training_mode.h"
#include "report/export_metrics.h"

namespace shoal {
namespace {

// True for a model of tests whose gradient does not depend on its weights, so
// that its loss may grow without limit.
bool IsExact(absl::string_view model) {
  return std::any_of(
      std::begin(kModelNames), std::end(kModelNames),
      [&](const ModelName& row) { return row.exact && row.name == model; });
}

}  // namespace

absl::StatusOr<Lead> TakeLead(const FileSystem* files, const JobFlags& flags,
                              const JobPlan& plan, Logger* logger,
                              absl::Time now) {
  Lead lead;
  SHOAL_ASSIGN_OR_RETURN(lead.lock, LockOutput(*files, flags, logger));
  lead.options = CoordinatorOptionsFromFlags(flags, plan);
  KindOf(flags.training.mode).compose(flags, &lead.options);
  SHOAL_RETURN_IF_ERROR(
      PlanCheckpoints(*files, flags, plan, logger, &lead.options));
  SHOAL_ASSIGN_OR_RETURN(
      lead.options.start,
      DrawStartNumber(*files, flags, lead.options.checkpoints, now));
  if (lead.lock != nullptr) {
    SHOAL_RETURN_IF_ERROR(lead.lock->Share(lead.options.start));
  }
  SHOAL_ASSIGN_OR_RETURN(lead.predictions,
                         PredictionsFileFromFlags(flags, plan, files));
  return lead;
}

CoordinatorWork WorkOfLead(const Lead& lead, const JobFlags& flags,
                           const FileSystem* files, Executor* work,
                           Executor* disk, Logger* logger) {
  CoordinatorWork of_lead = CoordinatorWorkOf(work, lead.predictions.get());
  of_lead.write_manifest = ManifestWriter(files, flags, disk, logger);
  of_lead.read_file =
      CheckpointReader(files, flags.checkpoints.model_dir, disk);
  return of_lead;
}

std::unique_ptr<Coordinator> ComposeCoordinator(
    const JobPlan& plan, CoordinatorOptions options, CoordinatorWork work,
    Executor* strand, Logger* logger, Telemetry* telemetry) {
  options.job = plan.job;
  options.config = plan.config;
  options.metrics = &MetricsOf(plan);
  options.watch_divergence = !IsExact(plan.spec.model);
  options.checkpoints.model = plan.spec;
  options.checkpoints.map = plan.map;
  auto coordinator =
      Coordinator::Create(std::move(options), strand, logger, std::move(work));
  if (telemetry != nullptr) {
    ExportJob(telemetry, [self = coordinator.get()] { return self->Report(); });
  }
  return coordinator;
}

}  // namespace shoal
