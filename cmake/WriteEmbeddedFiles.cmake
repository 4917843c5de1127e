# Run by hearth_embed_files. Raw string literals are limited to 64 KiB by the standard; our texts are far shorter.
set(rows "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  get_filename_component(name ${file} NAME_WE)
  string(APPEND rows "    {\"${name}\", R\"HEARTH(${text})HEARTH\"},\n")
endforeach()
list(LENGTH FILES count)
file(WRITE ${OUTPUT} "#include \"core/base/text.h\"\n\nnamespace hearth {\n"
  "extern const EmbeddedFile ${VARIABLE}[];\nextern const size_t ${VARIABLE}Count;\n"
  "const EmbeddedFile ${VARIABLE}[] = {\n${rows}};\nconst size_t ${VARIABLE}Count = ${count};\n}  // namespace hearth\n")
