"""Makes what UniFFI generated for Python fit for its readers: python generated.py railgate.py >_native.py

- Whatever an app's transport or key throws comes back as an error. UniFFI catches an `Exception` alone; after a
  `CancelledError` (of a task group or a time-out of the app's own) the call would wait for ever.
- The text of an error is a sentence, and records show what is in them, but for those that may hold secrets.
- Documentation was written for Rust: headings, links and names become Python's.

Each change says how often it is made: one that no longer fits what is generated ends in an error, not in silence.
"""

import re
import sys

SECRET = ["Enrollment", "HttpHeader", "HttpRequest", "HttpResponse", "SandboxOptions"]

CANCELLED = '''\
            else:
                handle_success(call_result)
        except asyncio.CancelledError as e:
            handle_error(
                _UniffiRustCallStatus.CALL_UNEXPECTED_ERROR,
                _UniffiFfiConverterString.lower(repr(e)),
            )
        except Exception as e:
'''


def changed(text, pattern, replacement, times):
    """`times`: how often, or none for at least once."""
    text, made = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    if made != times if times is not None else made == 0:
        sys.exit(f"error: {pattern!r} was found {made} times in what UniFFI generated, not {times or 'at all'}")
    return text


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()

    uncaught = r"^            else:\n                handle_success\(call_result\)\n        except Exception as e:\n"
    text = changed(text, uncaught, lambda _: CANCELLED, 1)

    joined = r'super\(\).__init__\(", "\.join\(\[\n +"{0}=\{{!r\}}"\.format\({0}\),\n +\]\)\)'
    text = changed(text, joined.format("problem"), 'super().__init__(f"{problem.code}: {problem.detail}")', 6)
    text = changed(text, joined.format("detail"), "super().__init__(detail)", 3)

    secret = "|".join(SECRET)
    shown = rf'^    def __str__\(self\):\n        return "((?!(?:{secret})\()[A-Z]\w*)\(([^"]*)\)"'

    def repr_of(match):
        return f'    def __repr__(self):\n        return "{match[1]}({match[2].replace("{}", "{!r}")})"'

    # Names that begin with an underscore are UniFFI's own.
    records = len(re.findall(r"^@dataclass\nclass [A-Z]", text, flags=re.MULTILINE))
    text = changed(text, shown, repr_of, records - len(SECRET))

    text = changed(text, r"\n *\n +# Errors\n +None(?:: [^\n]*)?\.?\n", "\n", None)
    text = changed(text, r"^( +)# Errors$", r"\1Raises:", None)
    text = changed(text, r"\[(`[^`\n]+`)\](?:\(crate::[\w:]+\))?", lambda match: match[1].replace("::", "."), None)
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)


main(*sys.argv[1:])
