"""Conversion of a message's text to HTML, and of HTML to text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.delivery.mail.markup import linked
from app.delivery.mail.templates import text_of


def links(text: str) -> list[str]:
    return re.findall(r'<a class="link" href="([^"]*)"', linked(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://example.com/a?b=1#c.", ["https://example.com/a?b=1#c"]),
        ("(at http://example.com/x)", ["http://example.com/x"]),
        ("https://en.example/Desk_(furniture), then", ["https://en.example/Desk_(furniture)"]),
        (
            "HTTPS://EXAMPLE.COM and https://b.example!",
            ["HTTPS://EXAMPLE.COM", "https://b.example"],
        ),
        ("http://localhost:3000/x http://[::1]/y", ["http://localhost:3000/x", "http://[::1]/y"]),
        ("https://bücher.example/ü", ["https://bücher.example/ü"]),
        (
            "https://example.com\nhttps://other.example",
            ["https://example.com", "https://other.example"],
        ),
        ("javascript:alert(1) ftp://example.com www.example.com a@b.example", []),
        ("https:// http://. https://… https://)", []),
        ("https://example.com\u202emoc.live", ["https://example.com"]),
    ],
)
def test_urls_in_a_message_are_links(text: str, found: list[str]) -> None:
    assert links(text) == found


def test_text_is_escaped_and_keeps_line_breaks() -> None:
    assert linked('<b>"On & off"</b>\r\nthen\u2028now') == (
        "&lt;b&gt;&#34;On &amp; off&#34;&lt;/b&gt;<br>\nthen<br>\nnow"
    )


def test_url_cannot_break_out_of_its_link() -> None:
    html = linked("https://example.com/?a=1&b=\"onmouseover='x'<script>")
    assert html.startswith('<a class="link" href="https://example.com/?a=1&amp;b="')
    assert "<script" not in html
    assert "onmouseover=&#39;x&#39;" in html


@settings(deadline=None)
@given(st.text())
def test_text_survives_the_round_trip(text: str) -> None:
    without_links = re.sub(r"</?a\b[^>]*>", "", linked(text))
    assert set(re.findall(r"<[^>]*>", without_links)) <= {"<br>"}
    converted = "".join(text_of(f"<p>{linked(text)}</p>").split())
    assert converted == "".join(text.split())


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One\n  line</p><p>Two</p>", "One line\n\nTwo\n"),
        ("<h1>Hi</h1>a<br>b &amp; &lt;c&gt;", "Hi\n\na\nb & <c>\n"),
        ('Go <a href="https://a.example/x">there</a> now', "Go there: https://a.example/x now\n"),
        ('<a href="https://a.example">https://a.example</a>', "https://a.example\n"),
        ('<a href="mailto:a@b.example">a@b.example</a>', "a@b.example\n"),
        ('<a href="https://a.example"><img src="x" alt="Home"></a>', "Home: https://a.example\n"),
        ("<ul><li>one<li>two</ul>", "- one\n- two\n"),
        ("<head><title>T</title><style>p {}</style></head><script>1</script>x", "x\n"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a\n\nb\n"),
        ("</p></style>still <b>here", "still here\n"),
    ],
)
def test_text_is_derived_from_html(html: str, text: str) -> None:
    assert text_of(html) == text
