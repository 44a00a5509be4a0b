#ifndef SHOAL_DATATOOLS_CRITEO_PREPARE_H_
#define SHOAL_DATATOOLS_CRITEO_PREPARE_H_

#include <algorithm>
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
  // Patterns of raw files, as in FileSystem::List: to train on; and optional
  // files to validate with and to test with, which stay separate.
  std::string input;
  std::string val_input;
  std::string test_input;
  // Share of the input's rows that go to validation instead of training.
  double val_share = 0.1;
  uint64_t seed = 1;  // decides which rows
  // A category in fewer rows counts as unknown.
  uint64_t cutoff = 200;
  // File with a fitted encoding to apply; empty: fit an encoding to the input.
  std::string features;
  // Most distinct categories that fitting may hold, up to 60 bytes each.
  uint64_t max_values = 50'000'000;
  int64_t max_bad_rows = 0;  // in all files together; -1: no limit
  std::string out_dir;       // made if it does not exist
  ExampleFormat format = ExampleFormat::kLibSvm;
  uint64_t file_bytes = uint64_t{1} << 30;  // about, of an output file

  // INVALID_ARGUMENT names the option that is out of range.
  absl::Status Validate() const;
};

struct CriteoPart {
  uint64_t rows = 0;
  bool labelled = true;  // false: none of the rows has a label
  uint64_t ones = 0;  // rows of label 1
  uint64_t files = 0;
  uint64_t bytes = 0;
};

struct CriteoPrepareReport {
  CriteoPart train;       // tr-*
  CriteoPart validation;  // va-*
  CriteoPart test;        // te-*, also the input if it has no labels
  uint64_t bad_rows = 0;
  std::string first_bad;  // file, line and reason
  uint64_t feature_size = 0;
  uint64_t fitted_rows = 0;      // rows that the encoding was fitted to
  uint64_t categories = 0;       // those with an id of their own
  uint64_t distinct_values = 0;  // categories seen by fitting; 0: no fitting

  // True if fitting with this cutoff, meant for much larger data, left hardly a
  // category: fewer than one in fifty have ids, and a category needs one row in
  // a thousand or more. (Of the Kaggle set's 45.8 million rows the reference's
  // 200 is one in 230,000.)
  bool CutsNearlyAll(uint64_t cutoff) const {
    return categories < distinct_values / 50 && cutoff > LowerCutoff();
  }
  // A cutoff that fits so many rows: one in a thousand, and 2 at least.
  uint64_t LowerCutoff() const {
    return std::max<uint64_t>(2, fitted_rows / 1000);
  }
};

struct CriteoPrepareProgress {
  absl::string_view doing;  // "fitting" or "writing"
  uint64_t rows = 0;
  uint64_t bytes = 0;  // read so far
  uint64_t total_bytes = 0;
};

// The file with the fitted encoding, in out_dir. The leading '_' keeps the file
// out of listings of the directory's data.
inline constexpr absl::string_view kCriteoFeaturesName = "_features.txt";

// Turns raw Criteo files into examples of the fitted encoding
// (criteo_features.h), as the reference's feature builder does. Makes one pass
// over the input to fit the encoding, rows for validation included, and one
// pass over all files to write the examples. Row i of the input goes to
// validation if f(seed, i) falls into its share, so that the same input, seed
// and options give the same bytes.
//
// Rows to fit to and rows to validate with need labels; a row without one is
// bad. With `features` the rows of the input, and those of test_input, may be
// without labels, all of them or none, as in data to predict for; val_share
// must then be 0. Such rows go to te-*, since nothing can be trained on them.
//
// No file gets its final name in out_dir before all files are written. Memory:
// that of CriteoFit, then one entry for each known category, and a few
// megabytes.
//
// Errors: those of Validate; FAILED_PRECONDITION if out_dir holds data already,
// or if the input is empty; INVALID_ARGUMENT if there are more than
// max_bad_rows bad rows (the message has file, line and reason), or if no row
// is left to train on; RESOURCE_EXHAUSTED for more than max_values categories;
// those of CriteoFeatures::FromText and of the file system, with the path.
absl::StatusOr<CriteoPrepareReport> PrepareCriteo(
    const FileSystem* file_system, const CriteoPrepareOptions& options,
    absl::FunctionRef<void(const CriteoPrepareProgress&)> progress);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_PREPARE_H_
