# SPDX-License-Identifier: MIT
"""Sphinx builds the manual from this folder: make docs."""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, 'ext'))

project = 'Open NPU stack'
with open(os.path.join(HERE, '..', 'VERSION'), encoding='ascii') as file:
    release = version = file.read().strip()
project_root = os.path.dirname(HERE)
project_copyright = 'its contributors'
extensions = ['kernel_doc']
# The tables are included by the pages that explain them.
exclude_patterns = ['hardware/tables']
primary_domain = 'c'
highlight_language = 'none'
html_theme = 'alabaster'
html_theme_options = {'page_width': '1100px', 'sidebar_width': '230px'}
html_show_sphinx = False
html_copy_source = False
