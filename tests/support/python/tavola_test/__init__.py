# SPDX-License-Identifier: Apache-2.0
"""What the Python tests, the campaigns, the demo and the bench share. tests/README.md lists the modules."""
