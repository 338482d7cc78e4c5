"""Certificates of a test's own, made by openssl."""

import pathlib
import ssl
import subprocess

CONFIG = """[ca]
default_ca = own
[own]
policy = any
default_md = sha256
rand_serial = yes
database = {directory}/index.txt
new_certs_dir = {directory}
x509_extensions = own_extensions
[any]
commonName = supplied
[own_extensions]
basicConstraints = CA:TRUE
subjectAltName = {names}
"""
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
RSA = ("-newkey", "rsa:2048")


class Certificate:
    """`file` and `key`, below `directory`, for hosts and addresses. It is its own authority, from `start` to `end`."""

    def __init__(self, directory, *names, kind=EC, start="20200101000000Z", end="20991231000000Z"):
        directory = pathlib.Path(directory)
        directory.mkdir(exist_ok=True)
        self.file, self.key = directory / "cert.pem", directory / "key.pem"
        texts = (f"{'DNS' if name[-1].isalpha() and ':' not in name else 'IP'}:{name}" for name in names)
        config, request = directory / "ca.conf", directory / "request.pem"
        config.write_text(CONFIG.format(directory=directory, names=",".join(texts)))
        (directory / "index.txt").write_text("")
        openssl("req", "-new", *kind, "-nodes", "-subj", f"/CN={names[0]}", "-keyout", self.key, "-out", request)
        openssl("ca", "-batch", "-selfsign", "-config", config, "-keyfile", self.key, "-in", request, "-out", self.file,
                "-notext", "-startdate", start, "-enddate", end)  # fmt: skip
        self.key.chmod(0o600)

    def tls(self):
        """The context that a server of Python's needs."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
