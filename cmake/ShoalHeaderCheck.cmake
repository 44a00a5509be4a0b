# shoal_check_headers(TARGET HEADER...) compiles each header of the target that
# has no source of its own by itself, twice included, when headers_compile_alone
# is built (a ctest of that name does). A header with a source is seen to
# compile alone by that source: tools/tidy.py has the source include it first,
# and checks its guard. Nothing is compiled again until a header changes.

add_custom_target(headers_compile_alone)

function(shoal_check_headers TARGET)
  set(units)
  foreach(header IN LISTS ARGN)
    file(REAL_PATH ${header} path)
    string(REGEX REPLACE "\\.h$" ".cc" source ${path})
    if(EXISTS ${source})
      continue()
    endif()
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${path})
    set(unit ${CMAKE_BINARY_DIR}/headers/${name}.cc)
    file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT
      "#include \"@name@\"\n#include \"@name@\"  // its guard holds\n")
    list(APPEND units ${unit})
  endforeach()
  if(units)
    add_library(${TARGET}_headers OBJECT EXCLUDE_FROM_ALL ${units})
    target_link_libraries(${TARGET}_headers PRIVATE ${TARGET})
    target_compile_options(${TARGET}_headers PRIVATE -O0 -g0)
    set_target_properties(${TARGET}_headers PROPERTIES UNITY_BUILD OFF)
    add_dependencies(headers_compile_alone ${TARGET}_headers)
  endif()
endfunction()
