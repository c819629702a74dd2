"""One e-mail by SMTP (needs the extra `notices`).

Belongs here: the connection, its limits, what the server's answer means. Does not: the text (`fold.bodies`).
"""

import asyncio
import socket
from collections.abc import Collection, Iterable
from email.message import EmailMessage
from hashlib import blake2b
from typing import NamedTuple

from phaseline.engine import outgoing
from phaseline.engine.products.notices.sending.addresses import guarded_socket
from phaseline.engine.products.notices.sending.attempts import Attempt
from phaseline.schemas import libraries

with libraries.needed("aiosmtplib", "sending e-mails"):
    import aiosmtplib

PORTS = {"starttls": 587, "tls": 465, "none": 25}
"""By `tls`, the port if none is given."""
REFUSED_MESSAGE = (550, 551, 552, 553, 554)
"""What a server answers to this e-mail, not to the sender."""


class MailServer(NamedTuple):
    """Where e-mails go, and how."""

    host: str
    port: int
    tls: str
    user: str | None
    password: str | None
    allow_private: bool
    seconds: float


async def send(server: MailServer, mail: EmailMessage, has: Collection[str], secrets: Iterable[str]) -> Attempt:
    """Send one e-mail to all whom it names, but for those who have it already, by the digests of their addresses.

    Where some are refused, it has failed, and its handle says in `has` who has it.
    """
    try:
        async with asyncio.timeout(server.seconds):
            return await _sent(server, mail, has, secrets)
    except TimeoutError:
        return Attempt("failed", f"the server did not take it within {server.seconds:g} s")
    except aiosmtplib.SMTPRecipientsRefused as error:
        said = "; ".join(f"{one.recipient}: {one.code} {one.message}" for one in error.recipients)
        return Attempt("failed", outgoing.said(said, secrets), about_message=True)
    except aiosmtplib.SMTPResponseException as error:
        said = outgoing.said(f"{error.code} {error.message}", secrets)
        return Attempt("failed", said, about_message=error.code in REFUSED_MESSAGE)
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        return Attempt("failed", outgoing.problem(error, secrets))


async def _sent(server: MailServer, mail: EmailMessage, has: Collection[str], secrets: Iterable[str]) -> Attempt:
    line = await _connected(server.host, server.port, allow_private=server.allow_private)
    try:
        client = aiosmtplib.SMTP(
            hostname=server.host, sock=line, use_tls=server.tls == "tls", start_tls=server.tls == "starttls",
            timeout=server.seconds, username=server.user, password=server.password,
        )  # fmt: skip
        await client.connect()
    except BaseException:
        line.close()
        raise
    try:
        left = [one.addr_spec for one in mail["To"].addresses if _digest(one.addr_spec) not in has]
        refused, said = await client.send_message(mail, recipients=left) if left else ({}, "all have it")
        if refused:
            few = "; ".join(f"{name}: {answer.code} {answer.message}" for name, answer in refused.items())
            taken = {*has, *(_digest(one) for one in left if one not in refused)}
            return Attempt("failed", outgoing.said(few, secrets), handle={"has": sorted(taken)}, about_message=True)
        return Attempt("sent", outgoing.said(said, secrets))
    finally:
        client.close()


def _digest(address: str) -> str:
    """What a record may say of an address."""
    return blake2b(address.encode(errors="replace"), digest_size=6).hexdigest()


async def _connected(host: str, port: int, *, allow_private: bool) -> socket.socket:
    """A connection to the first address of a host that may be asked and answers. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    failures = list[OSError]()
    for info in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            found = guarded_socket(info, allow_private=allow_private)
        except OSError as error:
            failures.append(error)
            continue
        try:
            await loop.sock_connect(found, info[4])
        except OSError as error:
            found.close()
            failures.append(error)
        except BaseException:
            found.close()
            raise
        else:
            return found
    raise failures[0] if failures else OSError(f"{host} has no address")
