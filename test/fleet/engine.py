#!/usr/bin/env python3
"""A stand-in for engines that take profiles: by what the API of Pyroscope and of
Parca says, and by what both ask of a profile.

    engine.py FILE    writes its port to FILE, then serves until it is ended
"""

import base64
import gzip
import http.server
import json
import os
import sys
import urllib.parse

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
import pprof_schema  # noqa: E402
from readers import Broken, must  # noqa: E402


def take(packed):
    """A profile of memory, in which something was allocated."""
    must(packed[:2] == b"\x1f\x8b", "not packed")
    sums = pprof_schema.check(gzip.decompress(packed), {"memory"}, several=True)
    must(sums["alloc_space"] > 1000000, "sums %s", sums)


def ingest(query, body):
    q = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
    must(q["format"] == "pprof" and q["name"] == "web{release=1}", "query %s", q)
    must(int(q["until"]) - int(q["from"]) == 600, "query %s", q)
    take(body)


def writeraw(_query, body):
    for series in json.loads(body)["series"]:
        labels = {label["name"]: label["value"] for label in series["labels"]["labels"]}
        must(labels.get("__name__") == "memory", "labels %s", labels)
        for sample in series["samples"]:
            take(base64.b64decode(sample["rawProfile"], validate=True))


class Engine(http.server.BaseHTTPRequestHandler):
    paths = {"/ingest": ingest, "/api/profiles/writeraw": writeraw}

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            self.paths[url.path](url.query, body)
            self.send_response(200)
        except (Broken, KeyError, TypeError, ValueError, OSError) as e:
            print("refused: %r" % e, flush=True)
            self.send_response(400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Engine)
with open(sys.argv[1] + ".new", "w", encoding="ascii") as f:
    f.write("%d\n" % server.server_port)
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
