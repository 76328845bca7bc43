"""The viewer: an agent as a page to look at, from its file alone.

Nothing of the file runs or is fetched: all HTML is made with `html.el`, which escapes, and a policy in the page forbids
everything but our own style and script.
"""

from adf_format.view.build import prepare, write_folder, write_page
from adf_format.view.context import View
from adf_format.view.options import Options

__all__ = ["Options", "View", "prepare", "write_folder", "write_page"]
