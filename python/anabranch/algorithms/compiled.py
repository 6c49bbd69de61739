"""Schedulers that numba compiles to machine code: functions of rows of real numbers."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import FunctionType
from typing import Any, ClassVar, NoReturn, overload

from anabranch import _core
from anabranch._core import AlgorithmError
from anabranch.algorithms.description import place_of
from anabranch.algorithms.parameter import Parameter, parameters_of
from anabranch.algorithms.scheduler import Scheduler
from anabranch.execution.optional_deps import MissingError, need
from anabranch.sentences.nearest import hint

WAIT = -1
"""What a compiled scheduler returns to send nothing now; it is asked again when something arrives."""

_ARGUMENTS = ("offer", "paths")


class Compiled(Scheduler):
    """A scheduler that `compiled` made of a function; the engine calls the machine code."""

    compiled: ClassVar[bool] = True
    function: ClassVar[Callable[..., Any]]
    """The function of Python."""
    memory: ClassVar[int] = 0
    """Numbers that it keeps between two calls."""

    def __init_subclass__(cls) -> None:
        """Refuse a class that derives from what `compiled` made: the engine would never call its methods."""
        if cls.__bases__ != (Compiled,):
            raise AlgorithmError(
                f"{place_of(cls)}: no class can derive from a compiled scheduler; "
                f"give ab.compiled another function, or derive the class from ab.Scheduler"
            )

    def pick(self, offer: object) -> NoReturn:
        """Refuse the call: the engine calls the machine code instead.

        Raises
        ------
        AlgorithmError
            Always.
        """
        raise AlgorithmError(
            f"{place_of(type(self))}.pick: only the engine can call a compiled scheduler; "
            f"to try its function, call {type(self).__name__}.function with arrays of your own"
        )

    @classmethod
    def _prepare(cls) -> None:
        if not hasattr(cls, "function"):
            raise AlgorithmError(f"{place_of(cls)} has no function; make a scheduler with ab.compiled")
        machine_code(cls)

    def _machine_code(self) -> "tuple[int, int, list[float]]":
        values = [getattr(self, parameter.name) for parameter in parameters_of(type(self))]
        return machine_code(type(self)), self.memory, values

    def _raise(self, offer: Sequence[float], paths: Sequence[Sequence[float]], memory: Sequence[float]) -> None:
        """Call the function of Python with the rows for which the machine code raised an exception."""
        import numpy as np

        def rows(columns: Sequence[str], values: Sequence[Sequence[float]]) -> Any:
            return np.array([tuple(row) for row in values], _row(columns)).view(np.recarray)

        of_offer, of_path = _core.columns()
        given = [rows(of_offer, [offer])[0], rows(of_path, paths), *([np.array(memory)] if self.memory else [])]
        with np.errstate(divide="raise", invalid="raise"):
            type(self).function(*given, *self._machine_code()[2])


@overload
def compiled(function: Callable[..., int], /) -> type[Scheduler]: ...
@overload
def compiled(
    *, memory: int = 0, asks: str = "always", needs: tuple[str, ...] = ()
) -> Callable[[Callable[..., int]], type[Scheduler]]: ...
def compiled(function: Any = None, /, *, memory: int = 0, asks: str = "always", needs: tuple[str, ...] = ()) -> Any:
    """Make a scheduler of a function, which numba compiles to machine code (``anabranch[fast]``).

    The result is a class: it can stand wherever a subclass of `Scheduler` can. The function is compiled when a scenario
    is given the class, or when one that names it is checked or run.

    Parameters
    ----------
    function : callable
        ``function(offer, paths)`` returns the index of a path whose ``can_send`` is not 0, or ``ab.WAIT``. ``offer`` is
        a row of real numbers (float64), ``paths`` an array of such rows, one for each subflow. Their columns are the
        attributes of ``anabranch._core.Offer`` and ``anabranch._core.Path``, with the same names and units:
        ``offer.unsent``, ``paths[0].srtt``. True is 1.0, False is 0.0; ``recovery`` is 0 (open), 1 (cwr), 2 (fast) or
        3 (loss). Further arguments are parameters: their defaults are `Parameter`, such as
        ``wait=ab.Parameter(0.01, 0, 1)``.
    memory : int
        Real numbers that each connection keeps between two calls. If it is not 0, the third argument of the function is
        an array of them, ``function(offer, paths, memory)``, at first all 0.
    asks : str
        As `Scheduler.asks`.
    needs : tuple of str
        As `Scheduler.needs`: ``("delivery_rate",)`` fills the column of this name.

    Returns
    -------
    type of Scheduler
        With the name of the function.

    Raises
    ------
    AlgorithmError
        If the function has other arguments. If it cannot be compiled, or if numba is not installed, a scenario with the
        class raises the error.

    Examples
    --------
    >>> import anabranch as ab
    >>> @ab.compiled
    ... def fastest(offer, paths):
    ...     best = ab.WAIT
    ...     for i in range(len(paths)):
    ...         if paths[i].can_send and (best == ab.WAIT or paths[i].srtt < paths[best].srtt):
    ...             best = i
    ...     return best
    >>> issubclass(fastest, ab.Scheduler), fastest.__name__
    (True, 'fastest')
    """
    make = partial(_class, memory=memory, asks=asks, needs=needs)
    return make if function is None else make(function)


def _class(function: Any, memory: int, asks: str, needs: tuple[str, ...]) -> type[Compiled]:
    if not isinstance(function, FunctionType):
        raise AlgorithmError(f"ab.compiled: {function!r} is not a Python function; give def {_form(memory)}: ...")
    place = place_of(function)
    if isinstance(memory, bool) or not (isinstance(memory, int) and 0 <= memory <= 1_000_000):
        raise AlgorithmError(f"{place}: memory is {memory!r}; give a whole number from 0 to 1000000")
    if memory and asks == "choices":
        raise AlgorithmError(
            f'{place}: asks = "choices" is only for schedulers without memory; leave out asks or memory'
        )
    parameters = _parameters(function, place, memory)
    if function.__name__ == "<lambda>":
        raise AlgorithmError(f"{place}: a lambda has no name that a scenario could use; write def {_form(memory)}: ...")
    if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
        what = "async" if inspect.iscoroutinefunction(function) else "yield"
        raise AlgorithmError(f"{place} uses {what}; return the index of a path (a whole number) or ab.WAIT")
    _refuse_words(function, place)
    return type(
        function.__name__,
        (Compiled,),
        {
            "__module__": function.__module__,
            "__qualname__": function.__qualname__,
            "__doc__": function.__doc__,
            "function": staticmethod(function),
            "memory": memory,
            "asks": asks,
            "needs": needs,
            **parameters,
        },
    )


_RECOVERY = {"open": 0, "cwr": 1, "fast": 2, "loss": 3}
"""The numbers of the column ``recovery``."""


def _refuse_words(function: FunctionType, place: str) -> None:
    """Refuse a function that compares ``recovery`` with a word: numba compiles that, and it is never true."""
    code = function.__code__
    constants = [one for some in code.co_consts for one in (some if isinstance(some, tuple | frozenset) else (some,))]
    words = [word for word in constants if isinstance(word, str) and word in _RECOVERY]
    if words and "recovery" in code.co_names:
        numbers = ", ".join(f"{number} ({word})" for word, number in _RECOVERY.items())
        raise AlgorithmError(f'{place} compares recovery with "{words[0]}"; in a row it is a number: {numbers}')


def _form(memory: int) -> str:
    return f"pick({', '.join(_ARGUMENTS)}{', memory' if memory else ''})"


def _parameters(function: FunctionType, place: str, memory: int) -> dict[str, Parameter]:
    """Parameters of the scheduler: the arguments of the function after those that the engine gives."""
    given = inspect.signature(function).parameters
    first = len(_ARGUMENTS) + bool(memory)
    positional = all(one.kind is one.POSITIONAL_OR_KEYWORD for one in given.values())
    without_default = [one.default is one.empty for one in given.values()]
    if not positional or len(given) < first or not all(without_default[:first]):
        raise AlgorithmError(f"{place}{inspect.signature(function)} takes other arguments; define {_form(memory)}")
    found = dict[str, Parameter]()
    for name, argument in list(given.items())[first:]:
        if not isinstance(argument.default, Parameter):
            raise AlgorithmError(
                f"{place}: the default of the argument {name} is not an ab.Parameter; "
                f"write {name}=ab.Parameter(DEFAULT, LEAST, MOST)"
                + ("" if memory else ", or give ab.compiled(memory=...) for numbers to keep")
            )
        if hasattr(Compiled, name):
            raise AlgorithmError(f"{place}: a parameter cannot be called {name}; choose another name")
        found[name] = argument.default
    return found


@cache
def machine_code(cls: type[Compiled]) -> int:
    """The address of the machine code of a class. The code stays until the process ends.

    Raises
    ------
    AlgorithmError
        If numba is not installed, if it cannot compile the function, or if that does not return a whole number.
    """
    place = place_of(cls)
    try:
        numba = need("numba", "fast", f"{place}, a compiled scheduler,")
    except MissingError as error:
        raise AlgorithmError(str(error)) from None
    types = numba.types
    of_offer, of_path = (numba.from_dtype(_row(columns)) for columns in _core.columns())
    count = len(parameters_of(cls))
    # An index beyond a row is an IndexError, not memory of something else.
    function = numba.njit(boundscheck=True)(cls.function)
    paths = types.Array(of_path, 1, "C", aligned=False)
    memory = [types.Array(types.float64, 1, "C")] if cls.memory else []
    try:
        function.compile((of_offer, paths, *memory, *[types.float64] * count))
        returned = function.nopython_signatures[0].return_type
        if not isinstance(returned, types.Integer):
            raise AlgorithmError(
                f"{place} returns {_words(returned)}; return the index of a path (a whole number) or ab.WAIT"
            )
        pointers = [types.CPointer(kind) for kind in (of_offer, of_path, types.float64, types.int64)]
        offer, rows, reals, flag = pointers
        signature = types.int64(offer, rows, types.int64, reals, reals, flag)
        code = numba.cfunc(signature)(_entry(function, cls.memory, count))
    except AlgorithmError:
        raise
    except Exception as error:  # numba's own, and a KeyError for a column that there is not
        raise AlgorithmError(f"{place} cannot be compiled: {_first(error)}") from error
    _KEPT.append(code)
    return int(code.address)


_COMPILES = (
    "numba compiles numbers, loops, tuples, arrays, and functions with @numba.njit; "
    "numbers to keep go into ab.compiled(memory=...)"
)

_KEPT: list[Any] = []
"""Compiled functions, whose machine code runs may call."""


def _row(columns: Sequence[str]) -> Any:
    """The type of a row with these columns, as numpy has it."""
    import numpy as np

    return np.dtype([(name, np.float64) for name in columns])


def _entry(function: Any, memory: int, count: int) -> Any:
    """The function of C that the engine calls (`Function` in crates/python/src/algorithms/compiled.rs)."""
    import numba

    arguments = ["carray(offer, 1)[0]", "carray(paths, many)", *(["carray(memory, LENGTH)"] if memory else [])]
    arguments += [f"parameters[{i}]" for i in range(count)]
    source = f"""
def entry(offer, paths, many, memory, parameters, raised):
    try:
        answer = function({", ".join(arguments)})
    except Exception:
        raised[0] = 1
        answer = WAIT
    return answer
"""
    names = {"carray": vars(numba)["carray"], "function": function, "LENGTH": memory, "WAIT": WAIT}
    exec(source, names)
    return names["entry"]


def _words(returned: Any) -> str:
    """A type of numba in a message."""
    text = str(getattr(returned, "literal_type", returned))
    without = text.lower().startswith(("none", "optional"))
    return "no value on some way through it" if without else f"values of type {text}"


def _first(error: Exception) -> str:
    """What a message of numba says: its lines without those about numba itself."""
    if isinstance(error, KeyError):
        name = str(error.args[0])
        near = hint(name, [column for columns in _core.columns() for column in columns])
        return f"a row has no column {name}{near or '; help(ab.compiled) says which there are'}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("Failed in nopython", "During:", "This error"))]
    return f"{' '.join(useful[:4])}\n  {_COMPILES}"
