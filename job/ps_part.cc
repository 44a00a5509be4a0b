#include "job/ps_part.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "job/process_metrics.h"
#include "rpc/metered_parameter_service.h"

namespace shoal {
namespace {

// A shard and the metered service in front of it, which live equally long.
struct MeteredShard {
  MeteredShard(std::shared_ptr<ParameterService> of, int index,
               Telemetry* telemetry, Executor* completions)
      : shard(std::move(of)),
        service(shard.get(), telemetry,
                MetricLabels{{"shard", absl::StrCat(index)}}, completions) {}

  const std::shared_ptr<ParameterService> shard;
  MeteredParameterService service;
};

}  // namespace

PsPart::PsPart(const JobPlan& plan, int index, const std::string& address,
               PsLoopOptions options, PsLoopDependencies deps,
               Telemetry* telemetry)
    : index_(index),
      telemetry_(telemetry),
      bytes_(deps.bytes),
      completions_(deps.completions) {
  RegisterRequest& registration = options.member.registration;
  registration.job = plan.job;
  registration.config = plan.config;
  registration.role = Role::kPs;
  registration.index = index;
  registration.address = address;
  options.member.rejoin = false;
  options.shard.job = plan.job;
  options.shard.model = plan.spec;
  options.shard.map = plan.map;
  options.shard.shard = plan.ps.ShardOf(index);
  deps.serve = [this](std::shared_ptr<ParameterShard> shard,
                      std::shared_ptr<ParameterService> service) {
    Serve(std::move(shard), std::move(service));
  };
  loop_ = std::make_unique<PsLoop>(std::move(options), std::move(deps));
}

void PsPart::Start(absl::AnyInvocable<void(const PsPart&)> on_serve,
                   absl::AnyInvocable<void(MemberEnd) &&> done) {
  on_serve_ = std::move(on_serve);
  loop_->Start(std::move(done));
}

void PsPart::Stop(absl::Status reason, absl::Duration save_deadline) {
  loop_->Stop(std::move(reason), save_deadline);
}

void PsPart::Serve(std::shared_ptr<ParameterShard> shard,
                   std::shared_ptr<ParameterService> service) {
  shard_ = std::move(shard);
  service_ = std::move(service);
  if (telemetry_ != nullptr) {
    ExportShard(telemetry_, index_, shard_);
    ExportServerBytes(telemetry_, index_, bytes_);
    auto metered = std::make_shared<MeteredShard>(service_, index_, telemetry_,
                                                  completions_);
    service_ = std::shared_ptr<ParameterService>(metered, &metered->service);
  }
  if (on_serve_ != nullptr) on_serve_(*this);
}

}  // namespace shoal
