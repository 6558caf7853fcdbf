# Texts of the source tree as C strings of what is built, so that it finds them wherever it is put.

# imp_c_string(FILE VARIABLE): the file's text as a C string, quotes included. CMake runs again when
# the file changes.
function(imp_c_string file variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# imp_build_in_text(OUTPUT NAME HEADER FILE): writes a C file in which the array NAME, which the
# header declares, is the file's text.
function(imp_build_in_text output name header file)
  imp_c_string(${file} text)
  cmake_path(GET file FILENAME file_name)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"/* Made by cmake/built-in.cmake from @file_name@. */
#include \"@header@\"

const char @name@[] =
     @text@;
")
endfunction()

# imp_build_in_recipes(OUTPUT): writes a C file with the recipes of recipes/.
function(imp_build_in_recipes output)
  file(GLOB recipes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/recipes/*.recipe)
  list(SORT recipes)
  set(rows "")
  foreach(recipe IN LISTS recipes)
    cmake_path(GET recipe STEM name)
    imp_c_string(${recipe} text)
    string(APPEND rows "    {\"${name}\",\n     ${text}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"/* Made by cmake/built-in.cmake from recipes/. */
#include \"settings/recipe.h\"

extern const imp_recipe imp_built_in_recipes[];
const imp_recipe imp_built_in_recipes[] = {
@rows@    {0}};
")
endfunction()
