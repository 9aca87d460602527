# Installs BUILD as a packager does, for one place but packed into another (DESTDIR), and moves it to a third:
# DIRECTORY/moved. No file of it may care.
set(prefix /nowhere/shoal)
file(REMOVE_RECURSE ${DIRECTORY})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${DIRECTORY}/packed ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG}
          --prefix ${prefix}
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${DIRECTORY}/packed${prefix} ${DIRECTORY}/moved)
