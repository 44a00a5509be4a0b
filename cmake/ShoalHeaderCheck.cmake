# shoal_check_headers(TARGET HEADER...) compiles each header of the target by
# itself, twice included, when headers_compile_alone is built (a ctest of that
# name does). Nothing is compiled again until a header changes.

add_custom_target(headers_compile_alone)

function(shoal_check_headers TARGET)
  set(units)
  foreach(header IN LISTS ARGN)
    file(REAL_PATH ${header} path)
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
    add_dependencies(headers_compile_alone ${TARGET}_headers)
  endif()
endfunction()
