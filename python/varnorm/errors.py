"""What can go wrong. Every sentence says what was wrong, where, and what to do."""

__all__ = ["Cancelled", "DataError", "FileError", "FormatError", "OutOfMemory", "ParameterError", "VarnormError", "VarnormWarning"]


class VarnormError(Exception):
    """Any error of varnorm."""


class ParameterError(VarnormError, ValueError):
    """A parameter is outside its domain."""


class DataError(VarnormError, ValueError):
    """The series cannot be used: missing values, other lengths or channels than expected, too few of them."""


class FileError(VarnormError, OSError):
    """The operating system refused a file."""


class FormatError(VarnormError, ValueError):
    """A file does not follow its format."""


class OutOfMemory(VarnormError, MemoryError):
    """More memory would be needed than there is; nothing was begun."""


class Cancelled(VarnormError):
    """The work was stopped on request."""


class VarnormWarning(UserWarning):
    """What one should know about a model before trusting it."""
