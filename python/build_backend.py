"""The build backend of the package: maturin, with the paths of the tools that HiGHS needs.

`pip install .` brings cmake, ninja and libclang as wheels into its build environment. The build of
HiGHS finds them through environment variables, which are set here unless the user or
`scripts/setup` has set them already. Rust and a C++ compiler must be installed.
"""

import os
import shutil
import subprocess

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def _libclang():
    """Return the folder of the libclang wheel, if it is installed."""
    try:
        import clang
    except ImportError:
        return None
    folder = os.path.join(os.path.dirname(clang.__file__), "native")
    return folder if os.path.isdir(folder) else None


def _gcc_headers():
    """Gcc's own headers, where there is no clang: the library of clang alone knows no stddef.h."""
    if shutil.which("clang") or not shutil.which("gcc"):
        return None
    found = subprocess.run(
        ["gcc", "-print-file-name=include"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() if found.returncode == 0 else None


def _cmake_settings():
    """Return the CMake settings that make the build of HiGHS faster."""
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), "scripts", "highs.cmake")


def _prepare():
    # The settings were tried with make and ninja, not with Visual Studio.
    if os.name == "posix" and os.path.isfile(_cmake_settings()):
        os.environ.setdefault("HOST_CMAKE_TOOLCHAIN_FILE", _cmake_settings())
    if "LIBCLANG_PATH" not in os.environ and (folder := _libclang()):
        os.environ["LIBCLANG_PATH"] = folder
    if "BINDGEN_EXTRA_CLANG_ARGS" not in os.environ and (headers := _gcc_headers()):
        os.environ["BINDGEN_EXTRA_CLANG_ARGS"] = f"-I{headers}"
    if not shutil.which("make"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel."""
    _prepare()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel that points at the sources."""
    _prepare()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Packs the sources."""
    return maturin.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Write the metadata of the wheel."""
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
