"""Pictures for the gallery of figures that pyplot does not know: those of `model.plot_...()`."""

from matplotlib import pyplot
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DOTS = 120  # per inch; twice as many for screens that have them

_seen: dict[int, Figure] = {}  # by id; kept, so that no other object gets the id of one of them


def scrape(block, block_vars, gallery_conf):
    """Save the figures that the block has given a name, and return the text that shows them."""
    _seen.update((id(figure), figure) for figure in map(pyplot.figure, pyplot.get_fignums()))
    paths, for_screens = [], []
    for value in block_vars["example_globals"].values():
        if not isinstance(value, Figure) or id(value) in _seen:
            continue
        _seen[id(value)] = value
        path = str(next(block_vars["image_path_iterator"]))
        twice = path.removesuffix(".png") + "_2_00x.png"
        value.savefig(path, dpi=DOTS, facecolor="white")
        value.savefig(twice, dpi=2 * DOTS, facecolor="white")
        paths.append(path)
        for_screens.append({0: path, 2.0: twice})
    return figure_rst(paths, gallery_conf["src_dir"], srcsetpaths=for_screens)


def _get_sg_image_scraper():
    return scrape
