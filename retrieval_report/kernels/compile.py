"""How kernels run: as plain Python while there is little to do, compiled from then on.

Importing the compiler takes longer than scoring some thousand rows in Python, and compiling takes
seconds. Both ways give the same bits, so a kernel first runs as it is written, and is compiled (or
its stored code loaded) once its work adds up. Where Numba cannot be imported, it stays Python, and
a warning says so when that takes long.
"""

import math
import os
import sys
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import one_line
from retrieval_report.contracts.warning import warn

# Start value of counts that are passed to other kernels. Numba gives a plain 0 a type of its own,
# and every kernel called with it would be compiled once more: five seconds of the first use.
ZERO = cast(int, np.int64(0))

# Work is counted in numbers walked over (`elements`, or a kernel's own `costs`). Loading the compiler
# takes as long as the first bound; compiling a kernel, as the second.
LOADING = 600_000.0
COMPILING = 600_000.0
SECONDS = 0.5e-6  # as Python, per unit of work; compiled code takes about a hundredth
SLOW = 4_000_000.0  # from here on, a process that cannot compile says what that costs
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
FOLDER = Path(__file__).parent

Function = TypeVar("Function", bound=Callable[..., object])
Form = Callable[..., Any]  # of a kernel, as Python or compiled


def elements(*arguments: object) -> float:
    """Return how many numbers the arrays of a call hold: what a kernel walks over once.

    >>> elements(3, np.zeros(2), (np.zeros(4), np.zeros(1)))
    7.0
    """
    total = 0.0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            total += argument.size
        elif isinstance(argument, tuple):
            total += elements(*argument)
    return total


def plain(result: object) -> Any:
    """Return numbers of NumPy as those of Python, as compiled code does.

    >>> plain((np.int64(1), np.float64(0.5)))
    (1, 0.5)
    """
    if isinstance(result, tuple):
        parts = map(plain, result)
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.item() if isinstance(result, np.generic) else result


def expect(work: float) -> None:
    """Count work that kernels do, or that they are about to do."""
    _expected[0] += work


@cache
def stored() -> frozenset[str]:
    """Return the kernels whose compiled code is on disk, where it is usually kept, as module.name;
    none where Numba is not installed, which alone can load it.
    """
    try:
        if find_spec("numba") is None:
            return frozenset()
    except (ImportError, ValueError):  # something keeps it from being found
        return frozenset()
    folder = os.environ.get("NUMBA_CACHE_DIR")
    files = Path(folder).glob("*/*.nbc") if folder else FOLDER.glob("__pycache__/*.nbc")
    return frozenset(file.name.split("-")[0] for file in files)


@cache
def missing_compiler() -> str:
    """Return why the compiler cannot be imported, or "" if it can."""
    try:
        import_module(COMPILER)
    except (ImportError, OSError) as error:  # OSError: LLVM's library does not load
        return one_line(error)
    return ""


def _loads() -> bool:
    """Return whether the compiler is there, or worth loading for the work so far."""
    return COMPILER in sys.modules or _expected[0] > LOADING


def _warn_uncompiled() -> None:
    with LOCK:  # once, whichever thread is the first
        if _warned:
            return
        _warned.append(True)
    warn(
        f"Numba cannot be imported ({missing_compiler()}), so kernels run as plain Python, about a "
        f"hundred times slower than compiled: some {_expected[0] * SECONDS:.0f} s so far; run pip "
        "install numba"
    )


class Kernel:
    """A function that runs as Python or compiled, and makes either form when it is first needed.

    In the globals of its module all functions that it calls are Kernels too; each form has globals
    of its own, in which they are in the same form as itself.
    """

    def __init__(self, function: Form, options: Named) -> None:
        update_wrapper(self, function)
        self.name: str = function.__name__
        self._function = function
        self._options = options
        self.costs: Callable[..., float] = elements
        self._work = 0.0

    def __call__(self, *arguments: object) -> object:
        """Run as Python if it is little work, otherwise compiled."""
        if self.compiles(*arguments):
            return self.compiled(*arguments)
        # Random keys wrap around, and compiled code says nothing of that either.
        with np.errstate(all="ignore"):
            return plain(self.python(*arguments))

    def compiles(self, *arguments: object) -> bool:
        """Return whether to run compiled code, as all calls so far suggest."""
        if "compiled" in self.__dict__:
            return True
        work = self.costs(*arguments)
        self._work += work
        expect(work)
        much = _loads() if self._is_stored else self._work > COMPILING
        if DISABLED or not much:
            return False
        if missing_compiler() and _expected[0] > SLOW:
            _warn_uncompiled()
        return not missing_compiler()

    @property
    def unmade(self) -> bool:
        """Whether compiled code is not at hand: making it takes seconds, and loading the compiler
        for what is stored takes longer than little work.
        """
        at_hand = "compiled" in self.__dict__ or (self._is_stored and _loads())
        return DISABLED or not at_hand

    @property
    def _is_stored(self) -> bool:
        return f"{self.__module__.rpartition('.')[2]}.{self.name}" in stored()

    @cached_property
    def python(self) -> Form:
        """The function as Python runs it."""
        return self._form("python")

    @cached_property
    def compiled(self) -> Form:
        """The function as Numba compiles it, for Python to call."""
        return self._compile("", {})

    @cached_property
    def part(self) -> Form:
        """The same for other kernels to call; what Python needs takes a tenth of compiling."""
        return self._compile(".part", {"no_cpython_wrapper": True})

    def _compile(self, ending: str, options: Named) -> Form:
        """Return the function compiled; forms with another ``ending`` are stored beside it."""
        from retrieval_report.kernels import compiler

        with LOCK:
            function = self._form("part")
            function.__qualname__ += ending
            return compiler.compiled(function, self._options | options)

    def _form(self, form: str) -> Form:
        """Return the function with every Kernel that it names in one form."""

        def replaced(value: object) -> object:
            return getattr(value, form) if isinstance(value, Kernel) else value

        function = self._function
        names = {
            name: replaced(function.__globals__[name])
            for name in function.__code__.co_names
            if name in function.__globals__
        }
        names |= {name: function.__globals__[name] for name in ("__name__", "__builtins__")}
        cells = function.__closure__ and tuple(
            CellType(replaced(cell.cell_contents)) for cell in function.__closure__
        )
        made = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, cells
        )
        made.__qualname__ = function.__qualname__
        return made


_expected = [0.0]
_warned: list[bool] = []
COMPILER = "retrieval_report.kernels.compiler"
LOCK = threading.RLock()  # forms of one kernel are made once, in whichever thread needs them first


def costs(estimate: Callable[..., float]) -> Callable[[Function], Function]:
    """Give a kernel an estimate of its work that knows more than the sizes of its arrays."""

    def estimated(function: Function) -> Function:
        cast(Kernel, function).costs = estimate
        return function

    return estimated


def kernel(function: Function) -> Function:
    """Compile ``function`` serially, without the interpreter
    lock, cached on disk, with exact floating point.

    ``parallel=True`` is not used: Numba's default threading layer aborts the process when two
    threads enter it, as a dashboard does. Callers run ranges of lists on a thread pool instead.
    ``fastmath`` stays off, so the same input gives the same bytes on every processor. If no folder
    is writable, kernels are compiled in memory.

    A kernel neither makes nor returns arrays. Otherwise Numba would count references to its
    arguments, which costs several times as much as a walk over ties. A kernel may call an
    ``allocating`` function.

    Examples
    --------
    >>> kernel(lambda x: x + 1)(1)
    2
    """
    return cast(Function, Kernel(function, {"_nrt": False}))


def allocating(function: Function) -> Function:
    """Compile a function that makes arrays, otherwise as ``kernel`` does.

    Examples
    --------
    >>> allocating(lambda size: np.zeros(size))(2)
    array([0., 0.])
    """
    return cast(Function, Kernel(function, {"_nrt": True}))


def inlined(function: Function) -> Function:
    """Inline a function that kernels call for every tie into each of them, whatever its size.

    Examples
    --------
    >>> double = inlined(lambda x: 2 * x)
    >>> kernel(lambda x: double(x))(1)
    2
    """
    return cast(Function, Kernel(function, {"_nrt": False, "forceinline": True}))


@inlined
def product_rest(a: float, b: float, high: float) -> float:
    """Return the rounding error of a·b ≈ ``high``, from halves of 26 bits (Dekker 1971)."""
    wide = 134217729.0  # 2**27 + 1 splits a float64 in two
    a_top = wide * a - (wide * a - a)
    b_top = wide * b - (wide * b - b)
    a_rest = a - a_top
    b_rest = b - b_top
    return ((a_top * b_top - high) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest


@inlined
def popcount(word: np.uint64) -> np.uint64:
    """Count the bits that are set, two, four and eight at a time; LLVM knows this as the
    processor's instruction, of which AVX-512 and AVX2 do eight and four at once.
    """
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = np.uint64(0x3333333333333333)
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def squared(number: float) -> float:
    """Return number², rounded correctly; ``number**2`` in Python is a library's power, which rounds
    one of a thousand wrong.
    """
    return number * number


@inlined
def power(number: float, exponent: int) -> float:
    """Return a power as compiled code does, by repeated squaring."""
    if exponent > 0x10000:
        return math.pow(number, float(exponent))
    result = 1.0
    while exponent != 0:
        if exponent & 1:
            result *= number
        exponent >>= 1
        number *= number
    return result
