# Builds the report's page (web/) with npm into one HTML file and stores it in the library as bytes.
# Without npm or a network the build continues, and only report.html is missing.
set(TICOPD_WEB AUTO CACHE STRING "AUTO: build the report's page if npm is found; OFF: leave it out")
set_property(CACHE TICOPD_WEB PROPERTY STRINGS AUTO OFF)

set(page_source ${PROJECT_BINARY_DIR}/web/page_template.cpp)
set(web ${PROJECT_SOURCE_DIR}/web)
if(TICOPD_WEB)
  find_program(TICOPD_NPM npm)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS ${web}/src/* ${web}/tests/*)
  file(GLOB page_settings CONFIGURE_DEPENDS ${web}/*.json ${web}/*.html ${web}/*.js ${web}/*.ts)
endif()

# Builds a copy in the build folder, so that several builds do not share web/node_modules.
add_custom_command(OUTPUT ${page_source}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page ${web} ${PROJECT_BINARY_DIR}/web ${page_source}
    $<IF:$<BOOL:${TICOPD_WEB}>,$<IF:$<BOOL:${TICOPD_NPM}>,${TICOPD_NPM},missing>,off>
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/build_page ${page_inputs} ${page_settings}
  COMMENT "Building the report's page" VERBATIM)
target_sources(ticopd_core PRIVATE ${page_source})
