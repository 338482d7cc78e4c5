"""How each peer is asked. Every command is what its manual offers for the purpose, with no configuration file read."""
import os
import shutil
import subprocess

PROGRAMS = ("curl", "wget", "aria2c", "axel", "lftp", "rclone", "aws")
ARIA2C = ("aria2c", "--no-conf", "-q", "--allow-overwrite=true", "--disable-ipv6=true", "--file-allocation=none",
          "-k1M")
AWS = ("env", "AWS_EC2_METADATA_DISABLED=true", "AWS_DEFAULT_REGION=us-east-1")


def program_of(name):
    """Its path, or None. A Debian package goes before what a user's shell would find."""
    packaged = f"/usr/bin/{name}"
    return packaged if os.access(packaged, os.X_OK) else shutil.which(name)


def missing():
    return [name for name in PROGRAMS if not program_of(name)]


def version_of(name):
    program = program_of(name)
    if not program:
        return None
    option = "version" if name == "rclone" else "--version"
    shown = subprocess.run([program, option], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    lines = (shown.stdout or shown.stderr).splitlines()
    return lines[0].strip() if lines else None


def installed(commands):
    """Those whose program is here, with its path: {name: argv}."""
    found = {}
    for name, argv in commands.items():
        at = next(index for index, word in enumerate(argv) if word in PROGRAMS)
        if program := program_of(argv[at]):
            found[name] = [*argv[:at], program, *argv[at + 1:]]
    return found


def one_file(base, target, out, sha256):
    """One file from one server, by path on it, to the file out."""
    url, directory, name = f"{base}/{target}", os.path.dirname(out), os.path.basename(out)
    aria2c = (*ARIA2C, "-x16", "-s16", "-d", directory, "-o", name, url)
    return {
        "curl": ("curl", "-q", "-sS", "-o", out, url),
        "wget": ("wget", "--no-config", "-q", "-O", out, url),
        "aria2c": aria2c,
        "axel": ("axel", "-q", "-n", "16", "-o", out, url),
        "lftp": ("lftp", "--norc", "-c", f"set xfer:clobber on; set net:max-retries 2; pget -n 16 {url} -o {out}"),
        "rclone": ("rclone", "copyto", "--multi-thread-streams", "16", "--multi-thread-cutoff", "1M",
                   "--http-url", base, f":http:{target}", out),
        "aws": (*AWS, "aws", "s3", "cp", "--only-show-errors", "--no-sign-request", "--endpoint-url", base,
                f"s3://{target}", out),
        "aria2c --checksum": (*aria2c, f"--checksum=sha-256={sha256}"),
    }


def mirrors(urls, best, out, metalink, sha256):
    """One file from several servers; best is the URL on the fastest."""
    where = ("-d", os.path.dirname(out), "-o", os.path.basename(out))
    aria2c = (*ARIA2C, "-s16", "-x8", *where)
    return {
        "curl best mirror": ("curl", "-q", "-sS", "-o", out, best),
        "wget best mirror": ("wget", "--no-config", "-q", "-O", out, best),
        "aria2c": (*aria2c, *urls),
        "aria2c -t5": (*aria2c, "-t5", "--connect-timeout=5", *urls),
        "aria2c --checksum": (*aria2c, f"--checksum=sha-256={sha256}", *urls),
        "aria2c metalink": (*ARIA2C, "-s16", "-x8", "-d", os.path.dirname(out), metalink),
        "axel": ("axel", "-q", "-n", "16", "-o", out, *urls),
    }


def write_metalink(path, one, name, urls):
    """A metalink (RFC 5854) with the SHA-256 of each MiB and of the whole."""
    hashes = "".join(f"<hash>{digest}</hash>" for digest in one.pieces())
    mirrors_of = "".join(f'<url priority="1">{url}</url>' for url in urls)
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">'
                    f'<file name="{name}"><size>{one.size}</size><hash type="sha-256">{one.sha256}</hash>'
                    f'<pieces length="{1 << 20}" type="sha-256">{hashes}</pieces>{mirrors_of}</file></metalink>',
                    encoding="utf-8")


def many_files(base, many, out, scratch, tls2=None):
    """All files of a list from one server, into the directory out. tls2: (base, CA file) of one with HTTP/2."""
    urls = [f"{base}/many/small/{name}" for name in many.names]
    (scratch / "urls").write_text("\n".join(urls) + "\n", encoding="ascii")
    (scratch / "names").write_text("\n".join(many.names) + "\n", encoding="ascii")
    write_curl_list(scratch / "curl", base, many, out)
    curl = ("curl", "-q", "-sS", "--parallel")
    commands = {
        "curl -Z 16": (*curl, "--parallel-max", "16", "-K", scratch / "curl"),
        "curl -Z 50": (*curl, "--parallel-max", "50", "-K", scratch / "curl"),
        "wget -i": ("wget", "--no-config", "-q", "-P", out, "-i", scratch / "urls"),
        "aria2c -j16": (*ARIA2C, "-j16", "-d", out, "-i", scratch / "urls"),
        "aria2c -j64": (*ARIA2C, "-j64", "-d", out, "-i", scratch / "urls"),
        "lftp mirror": ("lftp", "--norc", "-c", f"set net:connection-limit 16; mirror -P16 {base}/many/small/ {out}"),
        "rclone": ("rclone", "copy", "--http-no-head", "--no-traverse", "--files-from-raw", scratch / "names",
                   "--transfers", "16", "--checkers", "16", "--http-url", f"{base}/many/small/", ":http:", out),
    }
    if tls2:
        write_curl_list(scratch / "curl2", tls2[0], many, out)
        commands["curl -Z 50 HTTP/2"] = (*curl, "--parallel-max", "50", "--cacert", tls2[1], "-K", scratch / "curl2")
    return commands


def write_curl_list(path, base, many, out):
    path.write_text("".join(f"url={base}/many/small/{name}\noutput={out}/{name}\n" for name in many.names),
                    encoding="utf-8")
