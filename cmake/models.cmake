# Writes model_built_in.c: the model file IMP_MODEL as bytes of the library, so that pictures can be
# classified wherever that and the command are put. Without such a file they ask for a model.
set(IMP_MODEL ${PROJECT_SOURCE_DIR}/models/omniglot-alphabets.safetensors CACHE FILEPATH
    "The model built into the library and the command, if there is such a file")

function(imp_build_in_model output)
  # Also when the file appears or disappears later.
  cmake_path(GET IMP_MODEL PARENT_PATH folder)
  file(GLOB models CONFIGURE_DEPENDS ${folder}/*.safetensors)
  set(include "")
  if(IMP_MODEL IN_LIST models)
    set(include "        \".incbin \\\"${IMP_MODEL}\\\"\\n\"\n")
    set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS ${IMP_MODEL})
  endif()
  cmake_path(GET IMP_MODEL STEM LAST_ONLY name)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"/* Made by cmake/models.cmake. */
#include \"model/built_in_model.h\"

const char imp_built_in_model_name[] = \"@name@\";

__asm__(\".pushsection .rodata\\n\"
        \".balign 64\\n\"
        \".global imp_built_in_model, imp_built_in_model_size\\n\"
        \".hidden imp_built_in_model, imp_built_in_model_size\\n\"
        \"imp_built_in_model:\\n\"
@include@        \".Limp_built_in_model_end:\\n\"
        \".balign 8\\n\"
        \"imp_built_in_model_size:\\n\"
        \".quad .Limp_built_in_model_end - imp_built_in_model\\n\"
        \".popsection\\n\");
")
endfunction()
