#include "launch/flags/optimizer_flags.h"

#include "absl/strings/str_cat.h"
#include "core/optimizer_names.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

constexpr Choice<L2Scope> kL2Scopes[] = {{L2Scope::kTouched, "touched"},
                                         {L2Scope::kTable, "table"}};

}  // namespace

void OptimizerFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Optimizers");
  AddRateRows(rows);
  AddL2Rows(rows);
  AddConstantRows(rows);
  rows->Add(kAllCommands, Canonical::kInJob,
            {"clip_norm", &clip_norm,
             "Largest L2 norm of a batch's whole gradient. A larger gradient "
             "is scaled down to it before it is pushed. 0: no limit.",
             RealRange{0, 1e30}});
}

void OptimizerFlags::AddRateRows(JobFlagRows* rows) {
  const NotThereYet later = {WordList(kPlannedOptimizers)};
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"optimizer", ChoiceTarget(&optimizer, kOptimizerNames),
             "Optimizer of all variables, unless the flags below name another "
             "one. adam moves only the rows that a batch touches; "
             "rowwise_adagrad is for tables alone.",
             later});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"learning_rate", &learning_rate,
             "Learning rate (step size) of --optimizer.",
             RealRange{0, 1e6, /*above_min=*/true}});
  rows->Add(
      kAllCommands, Canonical::kInCheckpoint,
      {"table_optimizer", ChoiceTarget(&table_optimizer, kOptimizerNames),
       "Optimizer of embedding tables. Left out: as --optimizer.", later});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"table_learning_rate", &table_learning_rate,
             "Learning rate of embedding tables; 0: as --learning_rate.",
             RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"wide_optimizer", ChoiceTarget(&wide_optimizer, kOptimizerNames),
             "Optimizer of the tables' one weight per id (w of deepfm, fm and "
             "lr). Left out: as --table_optimizer.",
             later});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"wide_learning_rate", &wide_learning_rate,
             "Learning rate of the tables' one weight per id; 0: as "
             "--table_learning_rate.",
             RealRange{0, 1e6}});
  // The rates in the canonical config are multiplied.
  rows->Add(kAllCommands, Canonical::kNo,
            {"scale_learning_rate", &scale_learning_rate,
             "Factor of every learning rate, for a job whose steps have the "
             "batches of several workers (--mode=sync, ring and hybrid).",
             RealRange{0, 1e6, /*above_min=*/true}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"warmup_batches", &warmup_batches,
             "Number of batches N over which every learning rate rises from 0 "
             "to its full value: rate * min(1, t / N) at batch t. With "
             "--mode=sync and ring the batches of all workers in a step count "
             "as one, and with --mode=hybrid those of dense variables do.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"table_warmup_batches", &table_warmup_batches,
             "Number of warm-up batches of embedding tables; -1: as "
             "--warmup_batches.",
             IntRange{-1}});
}

void OptimizerFlags::AddL2Rows(JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kInJob,
            {"l2_reg", &l2_reg,
             "L2 regularisation of table rows, added once per push to the "
             "rows of --l2_scope.",
             RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"wide_l2_reg", &wide_l2_reg,
             "L2 regularisation of the tables' one weight per id; -1: as "
             "--l2_reg.",
             RealRange{-1, 1e6}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"dense_l2_reg", &dense_l2_reg,
             "L2 regularisation of dense variables, including biases, added "
             "once per push.",
             RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"l2_scope", ChoiceTarget(&l2_scope, kL2Scopes),
             "Rows that --l2_reg changes at every push: touched means the "
             "rows of the batch; table means all existing rows, in shoal "
             "train with one worker."});
}

void OptimizerFlags::AddConstantRows(JobFlagRows* rows) {
  const RealRange positive = {0, 1e6, /*above_min=*/true};
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"adagrad_initial_accumulator", &adagrad_initial_accumulator,
             "Initial accumulator of adagrad and rowwise_adagrad.", positive});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"ftrl_initial_accumulator", &ftrl_initial_accumulator,
             "Initial sum of squared gradients of ftrl.", positive});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"ftrl_l1", &ftrl_l1,
             "L1 regularisation of ftrl: a weight is 0 while its |z| is at "
             "most this number.",
             RealRange{0, 1e6}});
  rows->Add(
      kAllCommands, Canonical::kInCheckpoint,
      {"ftrl_l2", &ftrl_l2,
       "L2 regularisation of ftrl's own objective, in addition to --l2_reg.",
       RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"adam_beta1", &adam_beta1, "Decay of adam's mean of gradients.",
             RealRange{0, 1}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"adam_beta2", &adam_beta2, "Decay of adam's mean of squares.",
             RealRange{0, 1}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"adam_epsilon", &adam_epsilon,
             "Number added to the root that adam divides by.", positive});
}

absl::Status OptimizerFlags::Validate(const JobFlags& job) const {
  if (l2_scope == L2Scope::kTable && job.training.Trains() &&
      (job.command != Command::kTrain || job.cluster.workers != 1)) {
    return absl::InvalidArgumentError(
        "--l2_scope=table changes every row of a table at every push, and only "
        "shoal train with --workers=1 can do that; leave it at touched");
  }
  if (clip_norm > 0 && job.model.Exact()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--clip_norm=", clip_norm, ": --model=", job.model.model,
        " does not allow it, because its arithmetic has to be exact"));
  }
  return absl::OkStatus();
}

OptimizerFlags OptimizerFlags::Resolved() const {
  OptimizerFlags all = *this;
  if (!all.table_optimizer.has_value()) all.table_optimizer = optimizer;
  if (all.table_learning_rate == 0) all.table_learning_rate = learning_rate;
  if (!all.wide_optimizer.has_value()) all.wide_optimizer = all.table_optimizer;
  if (all.wide_learning_rate == 0) {
    all.wide_learning_rate = all.table_learning_rate;
  }
  all.learning_rate *= scale_learning_rate;
  all.table_learning_rate *= scale_learning_rate;
  all.wide_learning_rate *= scale_learning_rate;
  all.scale_learning_rate = 1;
  if (all.table_warmup_batches < 0) all.table_warmup_batches = warmup_batches;
  if (all.wide_l2_reg < 0) all.wide_l2_reg = l2_reg;
  return all;
}

std::string OptimizerFlags::ScaledRates() const {
  if (scale_learning_rate == 1) return "";
  const OptimizerFlags all = Resolved();
  return absl::StrCat("learning rates with --scale_learning_rate=",
                      scale_learning_rate, ": ", all.learning_rate,
                      " of dense variables, ", all.table_learning_rate,
                      " of tables, ", all.wide_learning_rate,
                      " of the tables' one weight per id\n");
}

}  // namespace shoal
