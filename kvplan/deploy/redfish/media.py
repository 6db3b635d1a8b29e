"""Virtual media: what is connected, inserting, and ejecting whatever is in."""

from __future__ import annotations

from posixpath import basename
from typing import TYPE_CHECKING, Any, Final

from kvplan.deploy.redfish import old_media
from kvplan.deploy.redfish.errors import RedfishError, Trouble

if TYPE_CHECKING:
    from kvplan.deploy.redfish.link import Link

_INSERT: Final = "#VirtualMedia.InsertMedia"
_DISCS: Final = frozenset({"CD", "DVD"})


def inserted(link: Link) -> tuple[str, ...]:
    """Name the images that are connected.

    Parameters
    ----------
    link
        The controller.

    Returns
    -------
    tuple of str
        Their URLs, or their names where the controller shows no more.
    """
    drives = _drives(link)
    if _old(link, drives):
        return old_media.mounted(link)
    return tuple(_named(path, drive) for path, drive in drives.items() if _connected(drive))


def insert(link: Link, url: str) -> bool:
    """Connect an image, and nothing but that.

    Parameters
    ----------
    link
        The controller.
    url
        The image.

    Returns
    -------
    bool
        Whether it had to be connected.

    Raises
    ------
    RedfishError
        When it is not connected in time.
    """
    if _only(link, url):
        return False
    eject(link)
    drives = _drives(link)
    if _old(link, drives):
        old_media.mount(link, url)
    else:
        link.drive(_disc_drive(link, drives)).insert_media(url)
    if not link.timing.wait(lambda: _only(link, url), link.timing.media_s):
        what = f"{link.address} accepted {url} but does not connect it within {link.timing.media_s:g} s"
        raise RedfishError(Trouble.IMAGE_NOT_CONNECTED, what)
    return True


def eject(link: Link) -> bool:
    """Take out whatever is connected.

    Parameters
    ----------
    link
        The controller.

    Returns
    -------
    bool
        Whether anything was.

    Raises
    ------
    RedfishError
        When it stays connected.
    """
    if not inserted(link):
        return False
    drives = _drives(link)
    if _old(link, drives):
        old_media.unmount(link)
    else:
        for path in (path for path, drive in drives.items() if _connected(drive)):
            link.drive(path).eject_media()
    if not link.timing.wait(lambda: not inserted(link), link.timing.media_s):
        what = f"{link.address} keeps {', '.join(inserted(link))} connected after it was ejected"
        raise RedfishError(Trouble.IMAGE_NOT_EJECTED, what)
    return True


def _only(link: Link, url: str) -> bool:
    """Tell whether an image is the only one that is connected."""
    return inserted(link) in {(url,), (basename(url),)}


def _drives(link: Link) -> dict[str, Any]:
    """Read every virtual drive as it is now."""
    members = (member["@odata.id"] for path in link.collections for member in link.read(path)[0].get("Members", ()))
    return {path: link.read(path)[0] for path in dict.fromkeys(members)}


def _inserts(drive: dict[str, Any]) -> bool:
    """Tell whether a drive takes an image as the standard says."""
    return _INSERT in (drive.get("Actions") or {})


def _old(link: Link, drives: dict[str, Any]) -> bool:
    """Tell whether the controller takes images only as it did before the standard."""
    return not any(map(_inserts, drives.values())) and old_media.exists(link)


def _disc_drive(link: Link, drives: dict[str, Any]) -> str:
    """Choose the first drive that takes discs."""
    for path, drive in drives.items():
        if _inserts(drive) and _DISCS.intersection(drive.get("MediaTypes") or _DISCS):
            return path
    what = f"{link.address} has no virtual drive that takes a disc image"
    raise RedfishError(Trouble.NO_VIRTUAL_DRIVE, what)


def _connected(drive: dict[str, Any]) -> bool:
    """Tell whether an image is connected: the names that some controllers keep after ejecting say nothing."""
    via = drive.get("ConnectedVia")
    if via:
        return via != "NotConnected" and drive.get("Inserted") is not False
    return bool(drive.get("Inserted"))


def _named(path: str, drive: dict[str, Any]) -> str:
    """Name a drive's image."""
    return str(drive.get("Image") or drive.get("ImageName") or path)
