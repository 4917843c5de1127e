# Doxygen reads comments with three slashes; ours have two. A comment on a line of its own documents what follows, one
# behind code documents that line.
s|^\([[:space:]]*\)//$|\1///|
s|^\([[:space:]]*\)//\([^/]\)|\1///\2|
s|^\([^/]*[^/[:space:]][[:space:]]*\)// |\1///< |
