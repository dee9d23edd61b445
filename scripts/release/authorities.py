"""Writes the certificates that the source of the crate webpki-root-certs (standard input) holds in DER as PEM, for programs that read a file."""

import re
import ssl
import sys

source = sys.stdin.read()
written = re.findall(r'from_slice\(b"((?:\\.|[^"\\])*)"\)', source, re.DOTALL)
if len(written) < 50 or len(written) != source.count("from_slice("):
    sys.exit(f"{len(written)} certificates can be read of {source.count('from_slice(')}: the source has another form")
for literal in written:
    # Rust's escapes of bytes are Python's; a line may end in one for the line's end and the spaces after it.
    joined = re.sub(r"\\\n\s*", "", literal)
    der = joined.encode("latin-1").decode("unicode_escape").encode("latin-1")
    # DER says its own length, so that a literal that was read wrongly shows.
    if der[:2] != b"\x30\x82" or int.from_bytes(der[2:4], "big") + 4 != len(der):
        sys.exit("a certificate is not whole")
    print(ssl.DER_cert_to_PEM_cert(der), end="")
