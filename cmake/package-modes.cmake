# Run by cpack on what it is going to pack: all may read it, whatever the umask
# of whoever makes packages is.

execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY}
                COMMAND_ERROR_IS_FATAL ANY)
