# shoal_check_headers(TARGET HEADER...) compiles each header of the target that
# has no source of its own. The header is included alone and twice. This happens
# when the target headers_compile_alone is built (a ctest of that name builds
# it). A header with a source needs no such check: tools/tidy.py makes the
# source include the header first, and checks the header's guard. Only changed
# headers are compiled again.

add_custom_target(headers_compile_alone)

# shoal_header_units(NAME TARGET HEADER...) makes the target NAME from the
# objects of such headers, if there are any.
function(shoal_header_units NAME TARGET)
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
    add_library(${NAME} OBJECT EXCLUDE_FROM_ALL ${units})
    target_link_libraries(${NAME} PRIVATE ${TARGET})
    target_compile_options(${NAME} PRIVATE -O0 -g0)
  endif()
endfunction()

function(shoal_check_headers TARGET)
  shoal_header_units(${TARGET}_headers ${TARGET} ${ARGN})
  if(TARGET ${TARGET}_headers)
    add_dependencies(headers_compile_alone ${TARGET}_headers)
  endif()
endfunction()
