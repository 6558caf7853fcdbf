"""The version of the package; libimp's, whose first two numbers it must share, is asked for."""

__version__ = "0.2.0"
