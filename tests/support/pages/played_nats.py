"""Plays the command `nats`: pub, sub and req, with the server and the key that the environment names.

Belongs here: that program, as far as pages use it. Does not: starting it (`forwarder`).
"""

import asyncio
import os
import signal
import sys

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg


async def main(verb: str, *words: str) -> None:
    headers = [words[at + 1].partition(":") for at, word in enumerate(words) if word == "-H"]
    subject, *rest = [word for at, word in enumerate(words) if "-H" not in words[max(0, at - 1) : at + 1]]
    connection = await nats.connect(os.environ["NATS_URL"], nkeys_seed=os.environ.get("NATS_NKEY"),
                                    allow_reconnect=False)  # fmt: skip
    if verb == "pub":
        await connection.publish(subject, rest[0].encode(), headers={name: value for name, _, value in headers} or None)
        await connection.flush()
        print(f'Published {len(rest[0].encode())} bytes to "{subject}"', file=sys.stderr)
    elif verb == "req":
        print((await connection.request(subject, rest[0].encode() if rest else b"", timeout=10)).data.decode())
    elif verb == "sub":
        await listen(connection, subject)
    else:
        sys.exit(f"nats {verb} is not played here")
    await connection.close()


async def listen(connection: Client, subject: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    number = 0

    async def show(message: Msg) -> None:
        nonlocal number
        number += 1
        print(f'[#{number}] Received on "{message.subject}"', *(f"{k}: {v}" for k, v in (message.headers or {}).items()),
              "", message.data.decode(errors="replace"), "", sep="\n", flush=True)  # fmt: skip

    await connection.subscribe(subject, cb=show)
    await connection.flush()
    print(f"Subscribing on {subject}", file=sys.stderr, flush=True)
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
