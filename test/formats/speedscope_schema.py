#!/usr/bin/env python3
"""--format=speedscope is valid by speedscope's own JSON schema.

    speedscope_schema.py STREAM|DIRECTORY... -- lj-parse-memprof

The schema is the file SPEEDSCOPE_SCHEMA, or comes with speedscope's package, which
npm fetches: somebody's text is not kept here. Without both, or python3-jsonschema,
the test is skipped; the format's rules are checked in readers.py as well.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile

import readers
from readers import must

try:
    import jsonschema
except ImportError:
    jsonschema = None

PACKAGE = "speedscope@1.25.0"
MEMBER = "package/dist/release/file-format-schema.json"


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def schema():
    """speedscope's schema."""
    if "SPEEDSCOPE_SCHEMA" in os.environ:
        with open(os.environ["SPEEDSCOPE_SCHEMA"], encoding="utf-8") as f:
            return json.load(f)
    with tempfile.TemporaryDirectory() as directory:
        try:
            p = subprocess.run(["npm", "pack", "--silent", "--fetch-retries=0",
                                "--fetch-timeout=30000", PACKAGE], cwd=directory, timeout=120,
                               capture_output=True, check=True, encoding="utf-8")
        except (OSError, subprocess.SubprocessError) as e:
            skip("npm does not fetch %s: %s" % (PACKAGE, e))
        with tarfile.open("%s/%s" % (directory, p.stdout.split()[-1])) as tar:
            return json.load(tar.extractfile(MEMBER))


def main():
    if not jsonschema:
        skip("there is no python3-jsonschema")
    validator = jsonschema.Draft7Validator(schema())

    def check(parser, path):
        data = readers.run(parser, "--format=speedscope", path, statuses=(0, 1))
        document = json.loads(data)
        error = next(validator.iter_errors(document), None)
        must(error is None, "%s", error)
        del document["profiles"][0]["weights"]
        must(not validator.is_valid(document), "the schema accepts a profile without weights")

    split = sys.argv.index("--")
    return readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], check)


if __name__ == "__main__":
    sys.exit(main())
