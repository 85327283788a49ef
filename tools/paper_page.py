"""Put the tables of the full run of the experiments into the page on the paper, between their marks."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results" / "full"
PAGE = ROOT / "docs" / "explanation" / "the-paper.md"


def main() -> None:
    """Renew every part `<!-- table: NAME --> ... <!-- end -->` of the page."""
    page = PAGE.read_text(encoding="utf-8")

    def renewed(match: re.Match[str]) -> str:
        table = (RESULTS / match[1]).read_text(encoding="utf-8")
        return f"<!-- table: {match[1]} -->\n\n{table}\n<!-- end -->"

    page, times = re.subn(r"<!-- table: (\S+) -->.*?<!-- end -->", renewed, page, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")
    print(f"{times} tables of {PAGE.name} renewed")


if __name__ == "__main__":
    main()
