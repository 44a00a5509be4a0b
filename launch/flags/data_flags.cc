#include "launch/flags/data_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

constexpr Choice<DataFlags::Scope> kScopes[] = {
    {DataFlags::Scope::kShared, "shared"}, {DataFlags::Scope::kHost, "host"}};

}  // namespace

void DataFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Data");
  rows->Add(kAllCommands, Canonical::kNo,
            {"training_data_dir", &training_data_dir,
             "Files to train on: a file, a directory, which names all files "
             "below it, or a glob, or several of these separated by commas. A "
             "file is known by its path below the directory, or by its base "
             "name, and no two may have the same. Needed to train."});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"val_data_dir", &val_data_dir,
       "Files to evaluate on, or to predict for, given in the same way."});
  rows->Add(kOverNetwork, Canonical::kInCheckpoint,
            {"data_scope", ChoiceTarget(&data_scope, kScopes),
             "Place of the training files: with shared every worker can read "
             "all of them and lists the same ones; with host each host has "
             "its own, which the workers of the host share. Hosts are told "
             "apart by their names in --worker_hosts."});
  rows->Add(kOverNetwork, Canonical::kInJob,
            {"val_data_scope", ChoiceTarget(&val_data_scope, kScopes),
             "The same for the files of --val_data_dir. With shared a "
             "validation set of which every host has a copy is evaluated "
             "once."});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"shuffle", &shuffle,
             "True to train in an order that depends on the seed and the "
             "epoch; false: in the order of the list of files."});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"shuffle_rows", &shuffle_rows,
             "Number of rows that are shuffled together. A worker holds this "
             "many rows in memory.",
             IntRange{1, 1 << 26}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"piece_bytes", &piece_bytes,
             "Size in bytes of a piece of the data, the unit of leasing. -1: "
             "a 32nd of the data, in [64 KiB, 64 MiB], or 8 to 16 batches "
             "where a batch is larger than that; 0: each file is one piece. No "
             "batch spans pieces. A job with more than 4,194,304 pieces times "
             "--num_epochs is refused at the start.",
             ByteRange{-1, int64_t{1} << 40}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"max_bad_rows", &max_bad_rows,
             "Most rows that may fail to parse before the job fails; -1: no "
             "limit.",
             IntRange{-1}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"auc_exact_rows", &auc_exact_rows,
             "Most rows of an evaluation for which the AUC is exact; scores "
             "take up to 13 bytes per row. With more rows the AUC comes from "
             "a histogram, with a bound on its error.",
             IntRange{1}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"data_format", ChoiceTarget(&data_format, kDataFormats),
             "Format of the files, which may be plain, gzip or zstd. auto: "
             "told from the first bytes of each file."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"quarantine_dir", &quarantine_dir,
             "Directory into which each worker writes the bad rows that it "
             "meets: file, row and reason. Left out: bad_rows in --model_dir; "
             "without --model_dir bad rows are only counted, and the first "
             "one is named."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"parse_threads", &parse_threads,
             "Number of threads of a worker that parse rows ahead. 1: the "
             "thread that reads also parses. The order of rows is the same "
             "with any number.",
             IntRange{1, 64}});
}

absl::Status DataFlags::Validate(const JobFlags& job) const {
  if (job.command == Command::kPs) return absl::OkStatus();  // reads no data
  if (job.training.Trains()) {
    if (!training_data_dir.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--training_data_dir is missing: without it there is no data to train "
        "on");
  }
  if (!val_data_dir.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(job.TaskText(),
                   " reads --val_data_dir, which is missing"));
}

}  // namespace shoal
