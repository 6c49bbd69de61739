"""What `compare` refuses, apart from directories."""


class MeasureError(ValueError):
    """There is no such measure."""
