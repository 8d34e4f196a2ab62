<?php
// SPDX-License-Identifier: Apache-2.0
// Loads the classes where there is no Composer: require this file.
declare(strict_types=1);

require_once __DIR__ . '/src/errors.php';
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, 7)) . '.php';
    if (str_starts_with($class, 'Pamoja\\') && is_file($file)) {
        require $file;
    }
});
