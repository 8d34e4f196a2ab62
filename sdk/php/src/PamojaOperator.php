<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Pamoja;

/** Client of an operator: the areas of every account, and those of the installation under `operator`. */
final class PamojaOperator extends Pamoja
{
    public readonly Api\OperatorApi $operator;

    /** @param array<string, mixed> $options */
    public function __construct(array $options = [])
    {
        parent::__construct($options);
        $this->operator = new Api\OperatorApi($this);
    }
}
