#!/usr/bin/python3
"""Makes sigv4_vectors.inc: signatures by Python's hmac, written from Amazon's description and not from our signer."""
import hashlib
import hmac
import json
from urllib.parse import quote

KEY, SECRET, REGION, HOST, TIME = "test:tester", "testing", "eu-west-1", "127.0.0.1:8085", "20260203T040500Z"
EMPTY = hashlib.sha256(b"").hexdigest()
CASES = [
    ("/bkt/plain", [], ""),
    ("/bkt/a=b/c d (1)*~!", [], ""),
    ("/bkt/x+yé&?#%", [], ""),
    ("/bkt/数据 1", [("versionId", "a+b/c=")], ""),
    ("/bkt//double/../dots", [], "session token+/="),
    ("/bkt", [("prefix", "ü x/"), ("list-type", "2"), ("continuation-token", "ab+c/d="), ("delimiter", "/")], ""),
    ("/bkt", [("location", "")], "t"),
]


def encoded(text, safe=""):
    return quote(text, safe="-._~" + safe)


def signature(path, query, token):
    headers = {"host": HOST, "x-amz-content-sha256": EMPTY, "x-amz-date": TIME}
    if token:
        headers["x-amz-security-token"] = token
    pairs = sorted((encoded(name), encoded(value)) for name, value in query)
    names = ";".join(sorted(headers))
    request = "\n".join(
        ["GET", encoded(path, "/"), "&".join(f"{n}={v}" for n, v in pairs)]
        + [f"{name}:{headers[name]}" for name in sorted(headers)] + ["", names, EMPTY])
    scope = f"{TIME[:8]}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", TIME, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in (TIME[:8], REGION, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


if __name__ == "__main__":
    for path, query, token in CASES:
        fields = ", ".join("{%s, %s}" % (json.dumps(n), json.dumps(v, ensure_ascii=False)) for n, v in query)
        print('{%s, {%s}, "%s",\n "%s"},' % (json.dumps(path, ensure_ascii=False), fields, token,
                                             signature(path, query, token)))
