"""The boot menu: arguments into every line that installs, and a default that checks nothing."""

from __future__ import annotations

import pytest
from media_isos import RHEL_MENU, UBUNTU_MENU

from kvplan.site.media.grub import faults_in, kernel_entries, with_arguments

ARGUMENTS = ("inst.ks=cdrom:/ks.cfg", "ds=nocloud;s=/cdrom/kv/", "inst.repo=http://172.24.0.10:8080/a?b&c")
MENUS = {"rhel": RHEL_MENU, "ubuntu": UBUNTU_MENU}


@pytest.mark.parametrize("menu", MENUS)
def test_a_changed_menu_has_no_fault(menu: str) -> None:
    assert list(faults_in(with_arguments(MENUS[menu], ARGUMENTS, 5), ARGUMENTS)) == []


@pytest.mark.parametrize("menu", MENUS)
def test_an_unchanged_menu_has_faults(menu: str) -> None:
    assert f"lacks the arguments {' '.join(ARGUMENTS)}" in list(faults_in(MENUS[menu], ARGUMENTS))


@pytest.mark.parametrize("menu", MENUS)
def test_a_second_time_changes_nothing(menu: str) -> None:
    once = with_arguments(MENUS[menu], ARGUMENTS, 5)
    assert with_arguments(once, ARGUMENTS, 5) == once


def test_a_rescue_system_is_left_alone() -> None:
    changed = with_arguments(RHEL_MENU, ARGUMENTS, 5)
    rescue = [entry for entry in kernel_entries(changed) if not entry.installs]
    assert len(rescue) == 1
    assert not set(ARGUMENTS) & set(rescue[0].words)


def test_what_a_shell_would_cut_is_escaped() -> None:
    changed = with_arguments(UBUNTU_MENU, ARGUMENTS, 5)
    assert r" ds=nocloud\;s=/cdrom/kv/ inst.repo=http://172.24.0.10:8080/a?b\&c ---" in changed


def test_a_menu_without_a_kernel_stays_as_it_is() -> None:
    text = "search --set=root --file /.disk/info\nconfigfile ($root)/boot/grub/grub.cfg\n"
    assert with_arguments(text, ARGUMENTS, 5) == text
    assert "starts no installer" in list(faults_in(text, ARGUMENTS))


def test_entries_are_counted_as_the_menu_counts_them() -> None:
    text = (
        "function f {\n linux /a\n}\n"
        "submenu 'Other' {\n menuentry 'Rescue' {\n  linux /b inst.rescue\n }\n menuentry 'x' {\n  exit\n }\n}\n"
        "if true; then\nmenuentry 'One' {\n linuxefi /c\n}\nfi\nmenuentry 'Two' {\n linux /d\n}\n"
    )
    assert [(entry.choice, entry.words[0]) for entry in kernel_entries(text)] == [
        (0, "/a"),
        (0, "/b"),
        (1, "/c"),
        (2, "/d"),
    ]


def test_the_default_skips_what_does_not_install() -> None:
    text = "menuentry 'Rescue' {\n linux /a inst.rescue\n}\nmenuentry 'Install' {\n linux /b\n}\n"
    assert 'set default="1"\n' in with_arguments(text, ARGUMENTS, 5)


def test_every_default_is_set_for_one_may_come_later() -> None:
    text = 'set default="2"\nset timeout=60\nif x; then\n  set default=4\nfi\nmenuentry "a" {\n linux /a\n}\n'
    changed = with_arguments(text, (), 7)
    assert changed.count('set default="0"\n') == 2
    assert changed.count("set timeout=7\n") == 1
    assert list(faults_in(changed, ())) == []
