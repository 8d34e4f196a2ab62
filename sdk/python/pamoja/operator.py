# SPDX-License-Identifier: Apache-2.0
"""Client of an operator: the areas of every account, and those of the installation under `operator`."""
from __future__ import annotations

from typing import Any

from . import AsyncPamoja, Pamoja
from ._async_operator_areas import AsyncOperatorAreas
from ._operator_areas import OperatorAreas


class PamojaOperator(Pamoja):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.operator = OperatorAreas(self._core).operator


class AsyncPamojaOperator(AsyncPamoja):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.operator = AsyncOperatorAreas(self._core).operator
