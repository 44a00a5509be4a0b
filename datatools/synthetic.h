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
  // Fields with one id and a real value; -1: a third, as Criteo's 13 of 39.
  int numeric_fields = -1;
  uint64_t ids = 1'000'000;  // all fields; a model's feature_size
  double zipf = 1.1;         // exponent of the categories' frequencies
  uint64_t seed = 1;
  int files = 8;        // that the training rows are spread over
  std::string out_dir;  // made where it is not there
  ExampleFormat format = ExampleFormat::kLibSvm;

  // INVALID_ARGUMENT names the option that is out of range.
  absl::Status Validate() const;
};

struct GenerateReport {
  uint64_t rows = 0;
  uint64_t test_rows = 0;
  uint64_t bytes = 0;        // of all files
  double positive_rate = 0;  // share of label 1 in the test rows
  // What the planted logits themselves reach on the test rows: no model can be
  // expected to do better. Exact (core/metrics.h).
  double best_auc = 0.5;
  double best_logloss = 0;
};

// Beside the data: the options and the report as one JSON object with the keys
// rows, test_rows, fields, numeric_fields, ids, zipf, seed, files, format,
// positive_rate, best_auc, best_logloss. The leading '_' keeps it out of a
// listing of the directory as data.
inline constexpr absl::string_view kSyntheticMetaName = "_meta.json";
// Beside the data while files get their names: the options, as _meta.json
// begins with them. By it a run knows what a cut-off one has left.
inline constexpr absl::string_view kSyntheticUnfinishedName =
    "_unfinished.json";
// The file with the test rows is this and the format's suffix.
inline constexpr absl::string_view kSyntheticTestStem = "te";

// Writes files of a planted model (planted_model.h) into out_dir, in LibSVM:
// tr-00000.libsvm … for training, te.libsvm for evaluation, _meta.json last.
// The same options give the same bytes; row i of either set depends on the seed
// and the model alone, not on how many rows or files there are, nor on the
// format: a value is the float that is nearest to its decimal of four digits.
//
// Files are written under hidden names (.tr-00000.libsvm.partial) and get their
// own together, once all are whole. A run that was cut off can be repeated: the
// same options replace what it left, and hidden files of any options are
// removed.
//
// Holds a megabyte of text, and 5 bytes a test row. `progress` is called now
// and then, and at the end, with the rows written and the rows to write.
// Errors: Validate's; FAILED_PRECONDITION if out_dir holds training or test
// files, unless _meta.json or _unfinished.json says that the same options made
// them, which are made again; those of the file system.
absl::StatusOr<GenerateReport> GenerateData(
    const FileSystem* file_system, const GenerateOptions& options,
    absl::FunctionRef<void(uint64_t done, uint64_t total)> progress);

// `row` as a line of LibSVM text with its '\n', appended to *text.
void AppendLibSvm(const PlantedRow& row, std::string* text);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_SYNTHETIC_H_
