#!/usr/bin/env python3
"""--format=speedscope is valid by speedscope's own JSON schema.

    speedscope_schema.py STREAM|DIRECTORY... -- lj-parse-memprof

The schema comes with speedscope's package, which test/obtain --all fetches:
somebody's text is not kept here. Without it, or python3-jsonschema, the test is
skipped; the format's rules are checked in readers.py as well.
"""

import json
import os
import sys

import readers
from readers import must

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = "node_modules/speedscope/dist/release/file-format-schema.json"


def schema():
    """speedscope's schema."""
    path = os.path.join(readers.npm_package("speedscope"), SCHEMA)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main():
    if not jsonschema:
        readers.skip("there is no python3-jsonschema")
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
