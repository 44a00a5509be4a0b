# Every third-party library that Shoal links, all from Debian 12 packages.
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(zstd CONFIG REQUIRED)
find_package(Protobuf REQUIRED)  # module mode: Debian ships no config file
# Hides the output of gRPC's own searches.
set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
find_package(gRPC CONFIG REQUIRED QUIET)
unset(CMAKE_MESSAGE_LOG_LEVEL)
find_package(OpenSSL REQUIRED)  # what Debian's gRPC is built with
find_package(spdlog CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
find_package(hwy CONFIG REQUIRED)

# Debian's oneDNN config file asks for OpenCL headers, so the library is
# searched without that file.
find_path(DNNL_INCLUDE_DIR dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(shoal_dnnl INTERFACE)
target_include_directories(shoal_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
# The OpenMP runtime that oneDNN already loads, needed to limit oneDNN to one
# thread. Named by its file, so that clang does not add a second runtime.
find_library(GOMP_LIBRARY NAMES libgomp.so.1 REQUIRED)
target_link_libraries(shoal_dnnl INTERFACE ${DNNL_LIBRARY} ${GOMP_LIBRARY})
