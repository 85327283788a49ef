"""HTML in texts: found, and taken out."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5

_INLINE = "a|abbr|b|big|code|em|font|i|ins|mark|q|s|small|span|strong|sub|sup|tt|u"
_BLOCKS = (
    "article|aside|blockquote|body|br|button|center|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|head|"
    "header|hr|html|iframe|img|input|label|li|link|main|meta|nav|ol|option|p|pre|section|select|source|svg|"
    "table|tbody|td|textarea|tfoot|th|thead|title|tr|ul|video"
)
# Of what is not shown, the content goes too. Tags of XML have a prefix, as in <jats:p>.
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_WITHIN_WORDS = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(rf"</?(?:{_BLOCKS}|\w+:[\w-]+)(?:\s[^<>]*)?/?>", re.IGNORECASE)

# "<p>" is a mean in physics: short tags count if they are closed or have an attribute.
_SURE = re.compile(
    rf"<(?:br|hr)\s*/?>|</(?:{_INLINE}|{_BLOCKS}|\w+:[\w-]+)\s*>|"
    rf"<(?:{_INLINE}|{_BLOCKS})\s[^<>]*=[^<>]*>|&(?:\w{{2,8}}|#\d{{2,6}}|#x[\da-f]{{2,5}});",
    re.IGNORECASE,
)


def without_html(text: str) -> str:
    """Return a text without tags, comments, scripts and styles, with characters for entities.

    Examples
    --------
    >>> without_html("<p>Salt &amp; pepper</p>")
    ' Salt & pepper '
    """
    if "<" in text:
        text = _BETWEEN_WORDS.sub(" ", _WITHIN_WORDS.sub("", _HIDDEN.sub(" ", text)))
    return unescape(text) if "&" in text else text


def html_in(text: str) -> str:
    """Return the first tag or entity of a text; nothing if there is none.

    Examples
    --------
    >>> html_in("Salt &amp; pepper"), html_in("AT&T; the mean <p> of p < 0.05 and x > 1")
    ('&amp;', '')
    """
    for match in _SURE.finditer(text):
        found = match[0]
        if found[0] == "<" or found[1] == "#" or found[1:] in html5:
            return found
    return ""
