"""Post-processes UniFFI's Python source: python generated.py railgate.py >_native.py

- Everything that an app's transport or key throws becomes an error. UniFFI only catches an `Exception`; after a
  `CancelledError` (from a task group or a timeout of the app) the call would wait for ever.
- The text of an error is a sentence, and records show their contents, except for those that may contain secrets.
- Headings, links and names in the documentation are converted from Rust's to Python's style.

The number of matches of each change is checked, so that output of another generator version is an error.
"""

import re
import sys

SECRET = ["Enrollment", "EnrollmentCode", "HttpHeader", "HttpRequest", "HttpResponse", "SandboxOptions", "Webhook"]

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
    """Replaces a pattern. `times`: the expected number of matches; None for at least one."""
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

    # Names that begin with an underscore are UniFFI's.
    records = len(re.findall(r"^@dataclass\nclass [A-Z]", text, flags=re.MULTILINE))
    text = changed(text, shown, repr_of, records - len(SECRET))

    text = changed(text, r"\n *\n +# Errors\n +None(?:: [^\n]*)?\.?\n", "\n", None)
    text = changed(text, r"^( +)# Errors$", r"\1Raises:", None)
    text = changed(text, r"\[(`[^`\n]+`)\](?:\(crate::[\w:]+\))?", lambda match: match[1].replace("::", "."), None)
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)


main(*sys.argv[1:])
