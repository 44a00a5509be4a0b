#ifndef SHOAL_DATATOOLS_SYNTHETIC_H_
#define SHOAL_DATATOOLS_SYNTHETIC_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "datatools/example_format.h"
#include "datatools/planted_model.h"

namespace shoal {

struct GenerateOptions {
  uint64_t rows = 1'000'000;     // to train on
  uint64_t test_rows = 100'000;  // to evaluate on
  int fields = 39;
  // Number of fields with one id and a real value; -1: a third of the fields,
  // as Criteo's 13 of 39.
  int numeric_fields = -1;
  uint64_t ids = 1'000'000;  // total of all fields; a model's feature_size
  double zipf = 1.1;         // exponent of the categories' frequencies
  uint64_t seed = 1;
  int files = 8;        // for the training rows
  std::string out_dir;  // made if it does not exist
  ExampleFormat format = ExampleFormat::kLibSvm;

  // INVALID_ARGUMENT names the option that is out of range.
  absl::Status Validate() const;
};

struct GenerateReport {
  uint64_t rows = 0;
  uint64_t test_rows = 0;
  uint64_t bytes = 0;        // total size of all files
  double positive_rate = 0;  // share of label 1 in the test rows
  // The AUC and logloss of the planted logits themselves on the test rows: no
  // model can be expected to do better. Exact (core/metrics.h).
  double best_auc = 0.5;
  double best_logloss = 0;
};

// A file beside the data, with the options and the report as one JSON object
// with the keys rows, test_rows, fields, numeric_fields, ids, zipf, seed,
// files, format, positive_rate, best_auc, best_logloss. The leading '_' keeps
// the file out of listings of the directory's data.
inline constexpr absl::string_view kSyntheticMetaName = "_meta.json";
// A file beside the data while files get their final names, with the options as
// at the beginning of _meta.json. By this file a run recognizes the data of a
// run that was cut off.
inline constexpr absl::string_view kSyntheticUnfinishedName =
    "_unfinished.json";
// The name of the file with the test rows, without the format's suffix.
inline constexpr absl::string_view kSyntheticTestStem = "te";

// Writes files of a planted model (planted_model.h) into out_dir, in LibSVM:
// tr-00000.libsvm … for training, te.libsvm for evaluation, _meta.json last.
// The same options give the same bytes. Row i of either set depends only on the
// seed and the model, not on the number of rows or files, nor on the format: a
// value is the float nearest to its decimal of four digits.
//
// Files are written under hidden names (.tr-00000.libsvm.partial) and get their
// final names together, once all are whole. A run that was cut off can be
// repeated: a run with the same options replaces its files, and hidden files of
// any options are removed.
//
// Holds a megabyte of text, and 5 bytes for each test row. `progress` is called
// now and then, and at the end, with the rows written and the rows to write.
// Errors: those of Validate; FAILED_PRECONDITION if out_dir holds training or
// test files, unless _meta.json or _unfinished.json says that they were made
// with the same options, in which case they are made again; those of the file
// system.
absl::StatusOr<GenerateReport> GenerateData(
    const FileSystem* file_system, const GenerateOptions& options,
    absl::FunctionRef<void(uint64_t done, uint64_t total)> progress);

// Appends `row` to *text as a line of LibSVM text with its '\n'.
void AppendLibSvm(const PlantedRow& row, std::string* text);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_SYNTHETIC_H_
