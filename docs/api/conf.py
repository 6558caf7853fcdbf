"""The Python API as pages, from the docstrings. scripts/api-docs.sh runs Sphinx with this."""

import pyimp

project = "pyimp"
author = copyright = "the imp authors"
version = release = pyimp.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_default_options = {
    "members": True,
    "inherited-members": False,
    "special-members": "__call__, __getitem__",  # how an object is used
}
autodoc_mock_imports = ["torch"]
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "Few-shot learning with infinite mixture prototypes"}
