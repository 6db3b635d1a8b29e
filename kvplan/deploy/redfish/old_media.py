"""Virtual media before the standard's, on X10 and early X11: one image, by a configuration that is mounted."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from kvplan.deploy.redfish.errors import RedfishError, Trouble
from kvplan.deploy.redfish.link import status_of

if TYPE_CHECKING:
    from kvplan.deploy.redfish.link import Link

_MOUNT: Final = "#IsoConfig.Mount"
_UNMOUNT: Final = "#IsoConfig.UnMount"
_RETRY_S: Final = 1


def exists(link: Link) -> bool:
    """Tell whether the controller has such a configuration."""
    return _configuration(link) is not None


def mounted(link: Link) -> tuple[str, ...]:
    """Name the image that is mounted: the drive exists only while one is."""
    path, configuration = _found(link)
    members = link.read(path.rpartition("/")[0])[0].get("Members")
    return (f"{configuration.get('Host')}{configuration.get('Path')}",) if members else ()


def mount(link: Link, url: str) -> None:
    """Mount an image.

    Parameters
    ----------
    link
        The controller.
    url
        The image, over plain HTTP.

    Raises
    ------
    RedfishError
        When it is not over plain HTTP, or the controller refuses to the end.
    """
    parts = urlsplit(url)
    if parts.scheme != "http":
        what = f"{link.address} mounts images over plain HTTP only, not {url}"
        raise RedfishError(Trouble.MEDIA_NEED_HTTP, what)
    path, configuration = _found(link)
    where = {"Host": f"http://{parts.netloc}", "Path": parts.path, "Username": "", "Password": ""}
    link.change(path, where, link.read(path)[1])
    target = configuration["Actions"][_MOUNT]["target"]
    for _ in range(link.timing.tries - 1):
        # Soon after an unmount it fails; it works some seconds later.
        try:
            return link.act(target, {})
        except link.http_error as error:
            if status_of(error) < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            link.timing.sleep(_RETRY_S)
    return link.act(target, {})


def unmount(link: Link) -> None:
    """Unmount the image."""
    link.act(_found(link)[1]["Actions"][_UNMOUNT]["target"], {})


def _configuration(link: Link) -> tuple[str, dict[str, Any]] | None:
    """Find the configuration below a collection of virtual drives."""
    for collection in link.collections:
        path = f"{collection.rstrip('/')}/CfgCD"
        found = link.find(path)
        if found and _MOUNT in (found.get("Actions") or {}):
            return path, found
    return None


def _found(link: Link) -> tuple[str, dict[str, Any]]:
    """Read the configuration that is known to exist."""
    found = _configuration(link)
    if found is None:
        what = f"{link.address} shows its virtual media no more"
        raise RedfishError(Trouble.NO_VIRTUAL_DRIVE, what)
    return found
