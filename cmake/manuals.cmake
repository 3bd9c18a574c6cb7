# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions for shells, made by the programs that they describe, and installed with them.
set(manuals ${CMAKE_BINARY_DIR}/manuals)
file(MAKE_DIRECTORY ${manuals})

# A page of section 8 with a service's --help.
function(tavola_service_manual name component)
    add_custom_command(OUTPUT ${manuals}/${name}.8
        COMMAND sh ${CMAKE_SOURCE_DIR}/packaging/make_manual.sh $<TARGET_FILE:${name}> ${manuals}/${name}.8
        DEPENDS ${name} ${CMAKE_SOURCE_DIR}/packaging/make_manual.sh VERBATIM)
    add_custom_target(manual_of_${name} ALL DEPENDS ${manuals}/${name}.8)
    install(FILES ${manuals}/${name}.8 DESTINATION share/man/man8 COMPONENT ${component})
endfunction()

# What the command line prints with these arguments.
function(tavola_client_file file folder rename)
    add_custom_command(OUTPUT ${manuals}/${file}
        COMMAND sh -c "\"$0\" \"$@\" >${manuals}/${file}.new && mv ${manuals}/${file}.new ${manuals}/${file}" $<TARGET_FILE:tavola> ${ARGN}
        DEPENDS tavola VERBATIM)
    add_custom_target(manual_${rename}_in_${file} ALL DEPENDS ${manuals}/${file})
    install(FILES ${manuals}/${file} DESTINATION ${folder} RENAME ${rename} COMPONENT client)
endfunction()

tavola_service_manual(tavolad server)
tavola_service_manual(tavola-worker worker)
tavola_client_file(tavola.1 share/man/man1 tavola.1 help --man)
tavola_client_file(tavola.bash share/bash-completion/completions tavola completion bash)
tavola_client_file(tavola.zsh share/zsh/site-functions _tavola completion zsh)
tavola_client_file(tavola.fish share/fish/vendor_completions.d tavola.fish completion fish)

# What `cmake --install` and the packages need.
add_custom_target(installed DEPENDS tavola tavolad tavola-worker tavola_c libtavola_static
    manual_of_tavolad manual_of_tavola-worker manual_tavola.1_in_tavola.1 manual_tavola_in_tavola.bash
    manual__tavola_in_tavola.zsh manual_tavola.fish_in_tavola.fish)
