"""Published measurements as what a link takes: `trace` of a link, or its `rate`, `delay`, `loss` and `changes`.

Users fetch the data themselves; docs/links.md says which columns each kind has. One file a kind; what they share is in
`reading` (tables, numbers, errors) and `writing` (stamps of a trace, changes of a link).
"""

from anabranch.traces.importing import KINDS, Imported, load
from anabranch.traces.reading import TraceError

__all__ = ["KINDS", "Imported", "TraceError", "load"]
