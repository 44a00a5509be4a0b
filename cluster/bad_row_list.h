#ifndef SHOAL_CLUSTER_BAD_ROW_LIST_H_
#define SHOAL_CLUSTER_BAD_ROW_LIST_H_

#include <string>
#include <vector>

namespace shoal {

// Bad rows in one line, for an error: "a:1, a:2, b: record 7: reason; b: byte
// 9: another reason". A row is one of PieceReport::first_error, "place:
// reason"; rows that follow each other with the same reason share it. A row
// without such a place stands as it is.
std::string BadRowList(const std::vector<std::string>& rows);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_BAD_ROW_LIST_H_
