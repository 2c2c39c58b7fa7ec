"""Arrays of the library that a kernel is written for: made of the judge's NumPy arrays, and read back.

    NumPy (from the judge) --give--> PyTorch, CuPy, JAX on a device --kernel--> its result --take--> NumPy (to the judge)

Each library is a class with the same four methods. Index arrays are uint32 in NumPy and int32 elsewhere, as those libraries index.
Element types that NumPy does not have (bf16, fp8) become the library's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .protocol import DTYPES, _Broke

_INDEX: dict[str, np.dtype[Any]] = {"u32": np.dtype("<i4")}


def _same_bits(now: np.ndarray, before: np.ndarray) -> bool:
    return now.shape == before.shape and now.tobytes() == before.tobytes()


class NumPy:
    """As they come."""

    writes = True

    def give(self, array: np.ndarray, type: str) -> Any:
        return array.copy()

    def take(self, array: Any, type: str) -> np.ndarray:
        found = np.asarray(array)
        if found.dtype != DTYPES[type]:
            raise _Broke(f"the result is {found.dtype}, the contract says {type} ({DTYPES[type]})")
        return found

    def same(self, array: Any, before: np.ndarray, type: str) -> bool:
        """True where the bits are still those of `before`."""
        return _same_bits(self.take(array, type), before)

    def poison(self, shape: tuple[int, ...], type: str) -> None:
        """Leaves NaNs behind where the library is likely to put the next array of this size."""
        stale = np.empty(shape, DTYPES[type])
        stale.view(np.uint8)[...] = 0xFF
        del stale


class Torch:
    """Tensors of PyTorch on a device."""

    writes = True

    def __init__(self, device: str | None) -> None:
        import torch

        self.torch = torch
        self.device = device or "cpu"
        self.types: dict[str, Any] = {
            "f64": torch.float64,
            "f32": torch.float32,
            "tf32": torch.float32,
            "f16": torch.float16,
            "bf16": torch.bfloat16,
            "e4m3": torch.float8_e4m3fn,
            "e5m2": torch.float8_e5m2,
            "u8": torch.uint8,
            "u16": torch.uint16,
            "u64": torch.uint64,
        }
        self.raw = {"bf16": torch.int16, "e4m3": torch.uint8, "e5m2": torch.uint8}

    def give(self, array: np.ndarray, type: str) -> Any:
        if type in _INDEX:
            return self.torch.from_numpy(array.astype(_INDEX[type])).to(self.device)
        array = array.view("<i2") if type == "bf16" else array
        tensor = self.torch.from_numpy(array.copy())
        return (tensor.view(self.types[type]) if type in self.raw else tensor).to(self.device)

    def take(self, array: Any, type: str) -> np.ndarray:
        tensor = array.detach()
        if tensor.dtype != (self.torch.int32 if type in _INDEX else self.types[type]):
            raise _Broke(f"the result is {tensor.dtype}, the contract says {type}")
        tensor = tensor.contiguous().cpu()
        tensor = tensor.view(self.raw[type]) if type in self.raw else tensor
        return np.asarray(tensor.numpy()).view(_INDEX.get(type, DTYPES[type]))

    def same(self, array: Any, before: np.ndarray, type: str) -> bool:
        return _same_bits(self.take(array, type), before.astype(_INDEX.get(type, before.dtype)))

    def poison(self, shape: tuple[int, ...], type: str) -> None:
        if not type.startswith("e"):
            stale = self.torch.full(shape, float("nan"), dtype=self.types[type], device=self.device)
            del stale


class CuPy:
    """Arrays of CuPy on the current device; kernels of Numba take them too."""

    writes = True

    def __init__(self, device: str | None) -> None:
        import cupy

        self.cupy = cupy
        if device is not None:
            cupy.cuda.Device(int(device)).use()

    def give(self, array: np.ndarray, type: str) -> Any:
        return self.cupy.asarray(array.astype(_INDEX.get(type, array.dtype)))

    def take(self, array: Any, type: str) -> np.ndarray:
        found = self.cupy.asnumpy(array)
        wanted = _INDEX.get(type, DTYPES[type])
        if found.dtype != wanted:
            raise _Broke(f"the result is {found.dtype}, the contract says {type} ({wanted})")
        return found

    def same(self, array: Any, before: np.ndarray, type: str) -> bool:
        return _same_bits(self.take(array, type), before.astype(_INDEX.get(type, before.dtype)))

    def poison(self, shape: tuple[int, ...], type: str) -> None:
        stale = self.cupy.empty(shape, DTYPES[type])
        stale.view(np.uint8)[...] = 0xFF
        del stale


class Jax:
    """Arrays of JAX, which nobody can write to."""

    writes = False

    def __init__(self, device: str | None) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.device = jax.devices(device)[0] if device else jax.devices()[0]
        self.types: dict[str, Any] = {"bf16": jax.numpy.bfloat16, "e4m3": jax.numpy.float8_e4m3fn, "e5m2": jax.numpy.float8_e5m2}

    def give(self, array: np.ndarray, type: str) -> Any:
        if type in self.types:
            array = array.view(self.types[type])
        return self.jax.device_put(array.astype(_INDEX.get(type, array.dtype)), self.device)

    def take(self, array: Any, type: str) -> np.ndarray:
        found, wanted = np.asarray(array), np.dtype(_INDEX.get(type, self.types.get(type, DTYPES[type])))
        if found.dtype != wanted:
            raise _Broke(f"the result is {found.dtype}, the contract says {type} ({wanted})")
        return found.view(_INDEX.get(type, DTYPES[type]))

    def same(self, array: Any, before: np.ndarray, type: str) -> bool:
        return True

    def poison(self, shape: tuple[int, ...], type: str) -> None:
        pass


def library(name: str, device: str | None) -> Any:
    """The library of this name."""
    if name == "numpy":
        return NumPy()
    known = {"torch": Torch, "cupy": CuPy, "jax": Jax}
    if name not in known:
        raise ValueError(f"arrays={name!r}; there are 'numpy', 'torch', 'cupy' and 'jax'")
    return known[name](device)
