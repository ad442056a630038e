"""Charts (`az.charts`): shapes that draw any frame with the columns that they are told, and the charts of the pages.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason.
"""

from azlatency.kit.drawing.base import export, few, show
from azlatency.kit.drawing.options import Options
from azlatency.shapes.course import course
from azlatency.shapes.curves import curves
from azlatency.shapes.density import density
from azlatency.shapes.forest import forest
from azlatency.shapes.lines import lines
from azlatency.shapes.matrix import matrix
from azlatency.shapes.series import series
from azlatency.shapes.zone_map import zone_map

__all__ = [
    "Options", "course", "curves", "density", "export", "few", "forest", "lines", "matrix", "series",
    "show", "zone_map",
]  # fmt: skip
