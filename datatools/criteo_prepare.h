#ifndef SHOAL_DATATOOLS_CRITEO_PREPARE_H_
#define SHOAL_DATATOOLS_CRITEO_PREPARE_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "datatools/example_format.h"

namespace shoal {

struct CriteoPrepareOptions {
  // Raw files, as FileSystem::List takes them: to train on, and, where they are
  // kept apart, to validate with and to test with.
  std::string input;
  std::string val_input;
  std::string test_input;
  // Share of the input's rows that go to validation instead of training.
  double val_share = 0.1;
  uint64_t seed = 1;  // decides which
  // Rows that must have a category, or it is one of the unknown.
  uint64_t cutoff = 200;
  // A fitted encoding to apply instead of fitting one to the input.
  std::string features;
  // Distinct values of categories that fitting may hold: up to 60 bytes each.
  uint64_t max_values = 50'000'000;
  int64_t max_bad_rows = 0;  // of all files; -1: no limit
  std::string out_dir;       // made where it is not there
  ExampleFormat format = ExampleFormat::kLibSvm;
  uint64_t file_bytes = uint64_t{1} << 30;  // of an output file, about

  // INVALID_ARGUMENT names the option that is out of range.
  absl::Status Validate() const;
};

struct CriteoPart {
  uint64_t rows = 0;
  uint64_t ones = 0;  // rows of label 1
  uint64_t files = 0;
  uint64_t bytes = 0;
};

struct CriteoPrepareReport {
  CriteoPart train;       // tr-*
  CriteoPart validation;  // va-*
  CriteoPart test;        // te-*
  uint64_t bad_rows = 0;
  std::string first_bad;  // file, line and reason
  uint64_t feature_size = 0;
  uint64_t fitted_rows = 0;      // that the encoding was fitted to
  uint64_t categories = 0;       // with an id of their own
  uint64_t distinct_values = 0;  // met by fitting; 0 without
};

struct CriteoPrepareProgress {
  absl::string_view doing;  // "fitting" or "writing"
  uint64_t rows = 0;
  uint64_t bytes = 0;  // read, of
  uint64_t total_bytes = 0;
};

// The fitted encoding, in out_dir. The leading '_' keeps it out of a listing of
// the directory as data.
inline constexpr absl::string_view kCriteoFeaturesName = "_features.txt";

// Turns raw Criteo files into examples of the fitted encoding
// (criteo_features.h), as the reference's feature builder does: one pass over
// the input to fit it, rows for validation included, and one pass over all
// files to write. Row i of the input goes to validation if f(seed, i) falls
// into its share, so that the same input, seed and options give the same bytes.
//
// Nothing has its name in out_dir before everything is written. Memory: what
// CriteoFit holds, then one entry a known category, and a few megabytes.
//
// Errors: Validate's; FAILED_PRECONDITION if out_dir holds data already, or the
// input no byte; INVALID_ARGUMENT with file, line and reason for one bad row
// more than max_bad_rows, and if no row is left to train on; RESOURCE_EXHAUSTED
// for more than max_values; those of CriteoFeatures::FromText and of the file
// system, with the path.
absl::StatusOr<CriteoPrepareReport> PrepareCriteo(
    const FileSystem* file_system, const CriteoPrepareOptions& options,
    absl::FunctionRef<void(const CriteoPrepareProgress&)> progress);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_PREPARE_H_
