"""A hook of the site's generator: links to files outside docs/ become plain text, as the site does not have them."""

from __future__ import annotations

import os
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)[^)]*\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Markdown without links that lead out of docs/."""
    folder = os.path.dirname(page.file.src_uri)

    def kept(found: re.Match[str]) -> str:
        target = found[2]
        outside = not target.startswith("http") and os.path.normpath(os.path.join(folder, target)).startswith("..")
        return found[1] if outside else found[0]

    return _LINK.sub(kept, markdown)
