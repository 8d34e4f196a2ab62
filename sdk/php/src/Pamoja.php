<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Pamoja from PHP: one client with the areas of the API on it. */
class Pamoja extends Areas
{
}
