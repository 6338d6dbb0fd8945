"""Links that sign in once."""

import pytest

from podium.dashboard.links import ROOT, VALID_SECONDS, Tokens, link, new_key, new_token

KEY = "k" * 43
NOW = 1_800_000_000.0


def tokens(now=NOW):
    return Tokens(KEY, lambda: now)


def test_a_token_works_once():
    accepted, token = tokens(), new_token(KEY, NOW)

    assert [accepted.redeem(token), accepted.redeem(token)] == [True, False]
    assert accepted.redeem(new_token(KEY, NOW))


@pytest.mark.parametrize(
    ("token", "now"),
    [
        pytest.param(new_token("other", NOW), NOW, id="another-key"),
        pytest.param(new_token(KEY, NOW), NOW + VALID_SECONDS + 1, id="expired"),
        pytest.param(new_token(KEY, NOW + 3600), NOW, id="from-the-future"),
        pytest.param(new_token(KEY, NOW).replace("18", "19", 1), NOW, id="altered-time"),
        pytest.param(new_token(KEY, NOW)[:-1], NOW, id="cut-off"),
        pytest.param("", NOW, id="empty"),
        pytest.param("...", NOW, id="dots"),
        pytest.param("\udcff.é.\ud800", NOW, id="not-text"),
        pytest.param(KEY, NOW, id="the-key-itself"),
    ],
)
def test_refused_tokens(token, now):
    assert not tokens(now).redeem(token)


def test_used_tokens_are_forgotten_once_they_have_expired():
    clock = [NOW]
    accepted = Tokens(KEY, lambda: clock[0])
    for _ in range(50):
        assert accepted.redeem(new_token(KEY, clock[0]))
        clock[0] += VALID_SECONDS / 10

    assert len(accepted._used) <= 12


def test_a_link_carries_a_token():
    address, _, token = link("http://127.0.0.1:1", KEY, NOW).partition("?token=")

    assert address == f"http://127.0.0.1:1{ROOT}"
    assert tokens().redeem(token)


def test_keys_differ():
    assert new_key() != new_key()
    assert tokens().is_key(KEY)
    assert not tokens().is_key(KEY[:-1])
    assert not tokens().is_key("\udcff")
