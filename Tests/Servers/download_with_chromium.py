#!/usr/bin/env python3
"""Downloads a file with headless Chromium, and kills it after a number of bytes.

    download_with_chromium.py URL FOLDER BYTES

Chromium is controlled by JSON messages over a pipe (--remote-debugging-pipe); a zero byte ends each message.
The partial file remains in FOLDER/downloads as NAME.crdownload. Exit code 1 if no bytes arrive within 100 s.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time


def is_answered(replies: int, number: int) -> bool:
    """Reads a message, and returns whether it is the reply with this number."""
    message = b""
    while not message.endswith(b"\0"):
        byte = os.read(replies, 1)
        if not byte:
            sys.exit("chromium has ended")
        message += byte
    return json.loads(message[:-1]).get("id") == number


def main(url: str, folder: pathlib.Path, wanted: int) -> int:
    downloads = folder / "downloads"
    downloads.mkdir()
    (its_input, commands), (replies, its_output) = os.pipe(), os.pipe()

    def connect() -> None:
        # These numbers are above both descriptors, so that neither is overwritten.
        os.dup2(its_input, 13)
        os.dup2(its_output, 14)
        os.dup2(13, 3)
        os.dup2(14, 4)

    browser = subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={folder}/profile", "--remote-debugging-pipe", "about:blank"],
        preexec_fn=connect, close_fds=False, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(its_input)
    os.close(its_output)
    try:
        for number, (method, parameters) in enumerate([
                ("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}),
                ("Target.createTarget", {"url": url})]):
            message = {"id": number, "method": method, "params": parameters}
            os.write(commands, json.dumps(message).encode() + b"\0")
            # Messages that are sent before Chromium has answered may be lost.
            while not is_answered(replies, number):
                pass
        end = time.monotonic() + 100
        while time.monotonic() < end:
            if any(path.stat().st_size >= wanted for path in downloads.glob("*.crdownload")):
                return 0
            time.sleep(0.02)
        return 1
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])))
