# Writes the man pages and the completions of shells, which the command itself makes from its tables.
#
#   cmake -DCOMMAND=imp -DFOLDER=documents -P write-documents.cmake
#
# COMMAND may be a list, of which the first is what runs the second (an emulator).
function(write file)
  execute_process(COMMAND ${COMMAND} ${ARGN} OUTPUT_FILE ${FOLDER}/${file}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1)

write(man1/imp.1 help --man)
execute_process(COMMAND ${COMMAND} help OUTPUT_VARIABLE overview COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z-]+ " commands "${overview}")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  write(man1/imp-${command}.1 help --man ${command})
endforeach()

write(imp.bash help --completion bash)
write(_imp help --completion zsh)
write(imp.fish help --completion fish)
