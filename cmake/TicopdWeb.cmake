# The report's page (web/), built by npm into one HTML file and carried in the library as bytes. A
# build without npm, or without the network npm needs, goes on: only report.html is missing then.
set(TICOPD_WEB AUTO CACHE STRING "AUTO: build the report's page where npm is; OFF: leave it out")
set_property(CACHE TICOPD_WEB PROPERTY STRINGS AUTO OFF)

set(page_source ${PROJECT_BINARY_DIR}/web/page_template.cpp)
set(web ${PROJECT_SOURCE_DIR}/web)
if(TICOPD_WEB)
  find_program(TICOPD_NPM npm)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS ${web}/src/* ${web}/tests/*)
  file(GLOB page_settings CONFIGURE_DEPENDS ${web}/*.json ${web}/*.html ${web}/*.js ${web}/*.ts)
endif()

# A copy is built, in the build folder: several builds do not meet in web/node_modules.
add_custom_command(OUTPUT ${page_source}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_page ${web} ${PROJECT_BINARY_DIR}/web ${page_source}
    $<IF:$<BOOL:${TICOPD_WEB}>,$<IF:$<BOOL:${TICOPD_NPM}>,${TICOPD_NPM},missing>,off>
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/build_page ${page_inputs} ${page_settings}
  COMMENT "Building the report's page" VERBATIM)
target_sources(ticopd_core PRIVATE ${page_source})
