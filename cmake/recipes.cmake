# Writes recipes_built_in.c: the recipes of recipes/ as C strings, so that the command finds them
# wherever it is put.
function(imp_build_in_recipes output)
  file(GLOB recipes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/recipes/*.recipe)
  list(SORT recipes)
  set(rows "")
  foreach(recipe IN LISTS recipes)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${recipe})
    cmake_path(GET recipe STEM name)
    file(READ ${recipe} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND rows "    {\"${name}\",\n     \"${text}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"/* Made by cmake/recipes.cmake from recipes/. */
#include \"train/recipe.h\"

extern const imp_recipe imp_built_in_recipes[];
const imp_recipe imp_built_in_recipes[] = {
@rows@    {0}};
")
endfunction()
