"""Which addresses a message is not sent to unless the receiver allows it: those that are not of the public Internet.

A name may lead to any address, and to another one a moment later. So the address is looked at to which the connection
is made, not the name.
Belongs here: judging an address, sockets for those that pass.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that hold one of IPv4 in their last 32 bits."""


class PrivateAddress(OSError):
    """An address that is not asked."""

    def __init__(self, address: str) -> None:
        """address: as the connection would have it."""
        super().__init__(f"{address} is an address of a private network: nothing is sent there without allow-private")
        self.strerror = str(self)  # which is what aiohttp shows


def is_public(text: str) -> bool:
    """Whether an address belongs to the public Internet, as does each one of IPv4 that it holds."""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast and not one.is_reserved for one in _meant(found))


def _meant(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """The addresses at which a packet may arrive that is sent to this one."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address in NAT64:
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    held = [address.sixtofour, *(address.teredo or ())]
    return [address, *(one for one in held if one is not None)]


def check(address: str, *, allow_private: bool) -> None:
    """Raise `PrivateAddress` for an address that is not asked."""
    if not allow_private and not is_public(address):
        raise PrivateAddress(address)


def guarded_socket(info: Any, *, allow_private: bool) -> socket.socket:
    """A socket for an address as `getaddrinfo` gives it. Raises `PrivateAddress`."""
    check(str(info[4][0]), allow_private=allow_private)
    found = socket.socket(family=info[0], type=info[1], proto=info[2])
    found.setblocking(False)
    return found
