# shoal_library(NAME n [FUZZED] SRCS ... [MULTI_TARGET ...] HDRS ... DEPS ...),
#   one idea a target;
# shoal_binary(NAME n [SANITIZED] SRCS ... DEPS ...);
# shoal_test(NAME n SRCS ... DEPS ... [LABELS ...] [TIMEOUT s]), a GoogleTest
# program run as one ctest. Sources are named one by one, never globbed.
#
# FUZZED: the library reads bytes from outside. With SHOAL_FUZZ the fuzzers see
# which of its branches an input takes. That makes compiling 1.5 times as slow,
# so not every library has it. MULTI_TARGET: sources that Highway compiles once for
# each instruction set. LABELS: unit, conformance, sim or e2e; also
# concurrent (threads), parses (bytes from outside) or vectors (kernels for
# every instruction set; not for threads) for tests that the sanitizers must
# see. A sanitizer preset builds only these tests and the SANITIZED binaries,
# and runs only these tests.
include(ShoalHeaderCheck)

add_library(shoal_options INTERFACE)
target_include_directories(shoal_options INTERFACE ${CMAKE_SOURCE_DIR})
# gcc 12 warns of std::string assignments that are fine (its bug 105651).
# x86-64-v2 is the oldest processor served; faster kernels are chosen at run
# time, so one binary runs on every host. __FILE__ is the path below the checkout,
# so that clones share what ccache keeps.
target_compile_options(shoal_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-march=x86-64-v2>
  $<$<BOOL:${SHOAL_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(SHOAL_DCHECKS)
  target_compile_definitions(shoal_options INTERFACE SHOAL_DCHECKS=1)
endif()
if(SHOAL_SANITIZE)
  target_compile_options(shoal_options INTERFACE
    -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(shoal_options INTERFACE -fsanitize=${SHOAL_SANITIZE})
endif()
if(SHOAL_LINKER)
  target_link_options(shoal_options INTERFACE -fuse-ld=${SHOAL_LINKER})
endif()
string(JOIN ":" SHOAL_TSAN_OPTIONS
  suppressions=${CMAKE_SOURCE_DIR}/tools/tsan_suppressions.txt
  ignore_noninstrumented_modules=1)
set(SHOAL_TEST_ENVIRONMENT
  UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=${SHOAL_TSAN_OPTIONS})

# A sanitizer build has only the targets that a labelled test needs.
function(shoal_leave_out_if_sanitized TARGET)
  if(SHOAL_SANITIZE)
    set_target_properties(${TARGET} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# shoal_united_sources(OUT NAME SOURCE...) sets OUT to the sources of the target
# NAME. With SHOAL_UNITE they are files that include eight .cc files each, so that
# headers are parsed once for all eight. CMake's own unity builds name the files
# with the path of the checkout, so that clones could not share what ccache keeps.
# Properties of a united source have no effect.
function(shoal_united_sources OUT NAME)
  set(sources ${ARGN})
  if(SHOAL_UNITE)
    list(FILTER sources EXCLUDE REGEX "\\.cc$")
    set(parts ${ARGN})
    list(FILTER parts INCLUDE REGEX "\\.cc$")
    set(number 0)
    foreach(part IN LISTS parts)
      cmake_path(ABSOLUTE_PATH part BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
        NORMALIZE OUTPUT_VARIABLE path)
      file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${path})
      math(EXPR of_number "${number} / 8")
      set(united ${CMAKE_BINARY_DIR}/united/${NAME}_${of_number}.cc)
      string(APPEND content_${of_number} "#include \"${path}\"\n")
      file(CONFIGURE OUTPUT ${united} CONTENT "${content_${of_number}}" @ONLY)
      list(APPEND sources ${united})
      math(EXPR number "${number} + 1")
    endforeach()
    list(REMOVE_DUPLICATES sources)
  endif()
  set(${OUT} ${sources} PARENT_SCOPE)
endfunction()

# All libraries and programs without their tests.
add_custom_target(house)

function(shoal_library)
  cmake_parse_arguments(A "FUZZED" "NAME" "SRCS;MULTI_TARGET;HDRS;DEPS" ${ARGN})
  if(A_SRCS OR A_MULTI_TARGET)
    shoal_united_sources(sources ${A_NAME} ${A_SRCS})
    add_library(${A_NAME} STATIC ${sources} ${A_MULTI_TARGET} ${A_HDRS})
    target_link_libraries(${A_NAME} PUBLIC shoal_options ${A_DEPS})
    if(A_FUZZED AND SHOAL_FUZZ)
      target_compile_options(${A_NAME} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  else()
    add_library(${A_NAME} INTERFACE ${A_HDRS})
    target_link_libraries(${A_NAME} INTERFACE shoal_options ${A_DEPS})
  endif()
  shoal_leave_out_if_sanitized(${A_NAME})
  add_dependencies(house ${A_NAME})
  shoal_check_headers(${A_NAME} ${A_HDRS})
endfunction()

function(shoal_binary)
  cmake_parse_arguments(A "SANITIZED" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${A_NAME} ${A_SRCS})
  target_link_libraries(${A_NAME} PRIVATE shoal_options ${A_DEPS})
  add_dependencies(house ${A_NAME})
  if(NOT A_SANITIZED)
    shoal_leave_out_if_sanitized(${A_NAME})
  endif()
endfunction()

# The code of a test runs once, so it is not optimised: it compiles twice as
# fast. All tests have the macros of -pthread, as tests that link protobuf do,
# so that they can share precompiled headers. With gcc's option ccache can look
# into these headers.
set(SHOAL_TEST_OPTIONS -O0 -pthread
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

function(shoal_test)
  cmake_parse_arguments(A "" "NAME;TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  shoal_united_sources(sources ${A_NAME} ${A_SRCS})
  add_executable(${A_NAME} ${sources})
  target_link_libraries(${A_NAME} PRIVATE shoal_options ${A_DEPS}
    GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(${A_NAME} PRIVATE ${SHOAL_TEST_OPTIONS})
  if(TARGET tests_precompiled)
    target_precompile_headers(${A_NAME} REUSE_FROM tests_precompiled)
  endif()
  set_target_properties(${A_NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${A_NAME} COMMAND ${A_NAME})
  set_tests_properties(${A_NAME} PROPERTIES
    TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
    ENVIRONMENT "${SHOAL_TEST_ENVIRONMENT}")
  if(NOT "${A_LABELS}" MATCHES "concurrent|parses|vectors")
    shoal_leave_out_if_sanitized(${A_NAME})
  endif()
endfunction()

# shoal_long_seeds(NAME [SEEDS]): with tools/check.sh --long the test NAME also
# runs with SEEDS seeds, or 100, for each of its simulations
# (tests/harness/seeds.h).
function(shoal_long_seeds NAME)
  set(seeds 100)
  if(ARGC GREATER 1)
    set(seeds ${ARGV1})
  endif()
  add_test(NAME ${NAME}_${seeds}_seeds COMMAND ${NAME} CONFIGURATIONS long)
  set_tests_properties(${NAME}_${seeds}_seeds PROPERTIES
    LABELS "sim;long" TIMEOUT 1800
    ENVIRONMENT "SHOAL_SEEDS=${seeds};${SHOAL_TEST_ENVIRONMENT}")
endfunction()
