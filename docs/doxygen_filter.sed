# Doxygen reads comments that begin with three slashes or two stars; ours have one less. A comment on a line of its own documents what follows, one
# behind code documents that line.
s|^\([[:space:]]*\)//$|\1///|
s|^\([[:space:]]*\)//\([^/]\)|\1///\2|
s|^\([^/]*[^/[:space:]][[:space:]]*\)// |\1///< |
s|^\([[:space:]]*\)/\* |\1/** |
s|^\([^/]*[^/[:space:]][[:space:]]*\)/\* |\1/**< |
