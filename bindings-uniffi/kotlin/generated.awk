# Post-processes UniFFI's Kotlin source: awk -f generated.awk railgate.kt railgate.kt (it is read twice).
#
# - Converts links and names in the documentation from Rust's to Kotlin's style.
# - Makes the text of an error a sentence, not a dump of its fields.
# - Converts everything that an app's transport or key throws to an error. UniFFI only catches exceptions; after anything else
#   (a NotImplementedError) the call would wait for ever.
# - Has both gateways implement what they have in common (Gateway.kt).
# - Hides UniFFI's converters and test functions.

function camel(name,   parts, count, out, n) {
  count = split(name, parts, "_")
  out = parts[1]
  for (n = 2; n <= count; n++) out = out toupper(substr(parts[n], 1, 1)) substr(parts[n], 2)
  return out
}

# [`Type::name`](crate::…) or [`Type::name`] as [Type.name].
function linked(line,   before, text, after) {
  while (match(line, /\[`[^`]*`\]/)) {
    before = substr(line, 1, RSTART - 1)
    text = substr(line, RSTART + 2, RLENGTH - 4)
    after = substr(line, RSTART + RLENGTH)
    sub(/^\([^)]*\)/, "", after)
    gsub(/::/, ".", text)
    line = before "[" camel(text) "]" after
  }
  return line
}

# `next_cursor` becomes `nextCursor` if that name occurs in the code; error codes stay as they are.
function named(line,   before, text, done) {
  done = ""
  while (match(line, /`[a-z][a-z0-9]*(_[a-z0-9]+)+`/)) {
    before = substr(line, 1, RSTART)
    text = substr(line, RSTART + 1, RLENGTH - 2)
    line = substr(line, RSTART + RLENGTH)
    done = done before (camel(text) in known ? camel(text) : text) "`"
  }
  return done line
}

FNR == NR {
  if ($0 !~ /^ *(\*|\/)/) {
    count = split($0, words, /[^A-Za-z0-9]+/)
    for (n = 1; n <= count; n++) known[words[n]]
  }
  next
}

# The comment of a function that raises no error ends on the function's line.
/^ *\*\/ fun/ {
  sub(/\*\/ fun/, "*/\nfun")
  print
  next
}

/^ *\*/ {
  gsub(/GatewayError/, "GatewayException")
  gsub(/TransportError/, "TransportException")
  gsub(/SignerError/, "SignerException")
  print named(linked($0))
  next
}

{
  sub(/get\(\) = "problem=\$\{ `?problem`? \}"/, "get() = \"${problem.code}: ${problem.detail}\"")
  sub(/get\(\) = "detail=\$\{ `?detail`? \}"/, "get() = detail")
  sub(/catch ?\(e: kotlin\.Exception\)/, "catch (e: Throwable)")
  sub(/^open class (GatewayClient|SandboxGateway): .*Interface$/, "&, Gateway, Simulator")
  sub(/^public fun uniffi/, "internal fun uniffi")
  sub(/^public ((abstract )?class|object|interface|typealias) FfiConverter/, "internal &")
  sub(/^internal public /, "internal ")
  print
}
