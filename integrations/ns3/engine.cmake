# SPDX-License-Identifier: GPL-2.0-only
# Finds the engine's C library: in ANABRANCH_ROOT (where `make capi PREFIX=...` put it), else with
# pkg-config, else it is built with cargo.
set(ANABRANCH_ROOT "$ENV{ANABRANCH_ROOT}" CACHE PATH "prefix of the engine's C library")
if(ANABRANCH_ROOT)
  set(ANABRANCH_HINT ${ANABRANCH_ROOT})
else()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(ANABRANCH_PC QUIET anabranch)
  endif()
  if(ANABRANCH_PC_FOUND)
    set(ANABRANCH_HINT ${ANABRANCH_PC_PREFIX})
  else()
    message(STATUS "building the engine with cargo: set ANABRANCH_ROOT if you have it already")
    set(ANABRANCH_HINT ${CMAKE_BINARY_DIR}/engine)
    # The module's folder may be a link from a source tree of ns-3.
    get_filename_component(ANABRANCH_FOLDER ${CMAKE_CURRENT_SOURCE_DIR} REALPATH)
    execute_process(COMMAND make --no-print-directory capi PREFIX=${ANABRANCH_HINT}
      WORKING_DIRECTORY ${ANABRANCH_FOLDER}/../.. RESULT_VARIABLE ANABRANCH_FAILED)
    if(ANABRANCH_FAILED)
      message(FATAL_ERROR "the engine was not built: set ANABRANCH_ROOT, or install Rust")
    endif()
  endif()
endif()
find_path(ANABRANCH_INCLUDE anabranch.h HINTS ${ANABRANCH_HINT}/include REQUIRED)
find_library(ANABRANCH_LIBRARY anabranch HINTS ${ANABRANCH_HINT}/lib REQUIRED)
