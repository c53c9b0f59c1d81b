# Makes one page of page.html, the style sheet and the scripts, and C of it:
#   cmake -D OUT=FILE -D SCRIPTS=a.js:b.js -P embed.cmake
# The page says which script and style it has, by their hashes, so that a
# browser runs nothing else, whatever names a profile has.

set(dir ${CMAKE_CURRENT_LIST_DIR})
string(REPLACE ":" ";" scripts "${SCRIPTS}")

# The hash of a text as browsers want it: in base64.
function(hash_of text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  set(base64 "")
  foreach(at RANGE 0 60 6) # Three bytes are four digits.
    string(SUBSTRING ${hex}0000 ${at} 6 three)
    foreach(shift 18 12 6 0)
      math(EXPR digit "0x${three} >> ${shift} & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND base64 ${digit})
    endforeach()
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64) # 32 bytes end in the 43rd digit.
  set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

# A text as an array of C.
function(array_of name text result)
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  string(REPLACE "0x0a," "0x0a,\n" hex "${hex}")
  set(${result} "const char ${name}[] = {\n${hex}0};\n" PARENT_SCOPE)
endfunction()

set(script "\"use strict\";\n(() => {\n")
foreach(name ${scripts})
  file(READ ${dir}/${name} text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
file(READ ${dir}/page.css style)
if("${script}${style}" MATCHES "</(script|style)|<!--")
  message(FATAL_ERROR "A script or a style must not end itself: \
${CMAKE_MATCH_0}")
endif()

hash_of("${script}" script_hash)
hash_of("${style}" style_hash)
file(READ ${dir}/page.html page)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")

if(page MATCHES "[^\t\n -~]") # C has it as chars, of which some are signed.
  message(FATAL_ERROR "The page is to be ASCII: ${CMAKE_MATCH_0}")
endif()

# What comes before the metric, between it and the profile, and behind them.
set(code "#include \"html_page.h\"\n")
foreach(part head:@METRIC@ middle:@PROFILE@ tail:)
  string(REGEX MATCH "^([a-z]+):(.*)$" part ${part})
  set(name ${CMAKE_MATCH_1})
  set(mark "${CMAKE_MATCH_2}")
  set(text "${page}")
  if(mark)
    string(FIND "${page}" ${mark} at)
    string(LENGTH ${mark} skip)
    string(SUBSTRING "${page}" 0 ${at} text)
    math(EXPR at "${at} + ${skip}")
    string(SUBSTRING "${page}" ${at} -1 page)
  endif()
  array_of(lp_html_${name} "${text}" array)
  string(APPEND code "\n${array}")
endforeach()
file(WRITE ${OUT} "${code}")
