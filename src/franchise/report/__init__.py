"""What people look at: one page in a browser (`write_report`), and figures for papers (`figures`)."""

from franchise.report.page import write_report

__all__ = ["write_report"]
