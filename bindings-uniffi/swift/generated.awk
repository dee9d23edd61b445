# Adds what the generator lacks for Swift. Reads the generated source and writes the shipped one:
#
# - A cancelled task drops its call at once, as in Kotlin and Python, and throws CancellationError. The Rust side supports this,
#   but the generated code does not use it.
# - Error cases begin with a lower-case letter, as all others do.
# - Type aliases get doc comments.
# - Comments: Rust's headings for errors, and links, are converted.
#
# The number of matches is checked, so that output of another generator version is an error, not half converted.

/^    freeFunc: \(UInt64\) -> \(\),$/ { print "    cancelFunc: @escaping @Sendable (UInt64) -> (),"; declared++ }

/^ *freeFunc: ffi_[a-z_]+_rust_future_free_[a-z0-9_]+,$/ {
  cancel = $0
  sub(/freeFunc: /, "cancelFunc: { ", cancel)
  sub(/_free_/, "_cancel_", cancel)
  sub(/,$/, "($0) },", cancel)
  print cancel
  calls++
}

/uniffiRustCallAsync\($/ { called++ }

/^    var pollResult: Int8;$/ {
  print "    await withTaskCancellationHandler {"
  began++
}

/^    \} while pollResult != UNIFFI_RUST_FUTURE_POLL_READY$/ {
  print
  print "    } onCancel: {"
  print "        cancelFunc(rustFuture)"
  print "    }"
  ended++
  next
}

/fatalError\("Cancellation not supported yet"\)/ {
  sub(/fatalError\(.*\)/, "throw CancellationError()")
  cancelled++
}

# Makes the letter after the text lower-case.
function small_after(text) {
  at = index($0, text) + length(text)
  $0 = substr($0, 1, at - 1) tolower(substr($0, at, 1)) substr($0, at + 1)
  cases++
}
/^    case [A-Z][A-Za-z]*\($/ { small_after("case ") }
/^        case [0-9]+: return \.[A-Z][A-Za-z]*\($/ { small_after("return .") }
/^        case let \.[A-Z][A-Za-z]*\(/ { small_after("case let .") }

/^public typealias Decimal = / { print "/// An exact decimal: it never passes through a float." }
/^public typealias Instant = / { print "/// A moment, exact to the millisecond." }
/^public typealias Json = / { print "/// A JSON document as text." }

# [`Type::a_method`](…) is `Type.aMethod`.
/^ +\* / {
  while (match($0, /\[`[A-Za-z_:]+`\](\([A-Za-z_:]+\))?/)) {
    link = substr($0, RSTART + 2, RLENGTH - 2)
    sub(/`.*/, "", link)
    gsub(/::/, ".", link)
    while (at = index(link, "_")) link = substr(link, 1, at - 1) toupper(substr(link, at + 1, 1)) substr(link, at + 2)
    $0 = substr($0, 1, RSTART - 1) "`" link "`" substr($0, RSTART + RLENGTH)
  }
}
throws { sub(/\* /, "* - Throws: ") }
{ throws = 0 }
/^ +\* # Errors$/ {
  throws = 1
  next
}

{ print }

END {
  found = "declared " declared ", began " began ", ended " ended ", cancelled " cancelled ", calls " calls " of " called ", cases " cases
  if (declared != 1 || began != 1 || ended != 1 || cancelled != 1 || calls < 1 || calls != called || cases < 3 || cases % 3) {
    print "error: the generator's output has changed since generated.awk was written: " found > "/dev/stderr"
    exit 1
  }
}
