# HOTSPAN_SANITIZE=address,undefined or thread: for every target of the build.
if(HOTSPAN_SANITIZE)
  add_compile_options(-fsanitize=${HOTSPAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOTSPAN_SANITIZE})
  add_compile_definitions(HOTSPAN_SANITIZED=1)
endif()
