<?php
// SPDX-License-Identifier: Apache-2.0
// Runs the cases with the PHP SDK and prints what came of each, a line of JSON a case. The same as run.mjs and run.py.
declare(strict_types=1);

use Pamoja\File;
use Pamoja\Pamoja;
use Pamoja\PamojaError;
use Pamoja\Webhooks;
use Pamoja\WebhookVerificationError;

require getenv('PAMOJA_AUTOLOAD');
if (in_array('guzzle', $argv, true)) {
    require 'GuzzleHttp/autoload.php';
}
$given = json_decode((string) stream_get_contents(STDIN), true);

$fresh = static fn (): string => bin2hex(random_bytes(16));

$valueOf = static fn (mixed $value): mixed => match (true) {
    $value === '$fresh' => $fresh(),
    is_array($value) && isset($value['$file']) => new File($value['$file'], $value['name'], $value['type']),
    default => $value,
};

$called = static function (Pamoja $pamoja, array $call) use ($valueOf): mixed {
    [$area, $verb] = explode('.', $call['operation']);
    $options = $call['options'] ?? [];
    if (isset($options['timeoutMs'])) {
        $options['timeout'] = $options['timeoutMs'] / 1000;
    }
    $given = $call['path'] ?? [];
    if (isset($call['input'])) {
        $given[] = array_map($valueOf, $call['input']);
    }
    if ($options !== [] && $verb !== 'wait') {
        $given['options'] = $options;
    }
    return $pamoja->$area->$verb(...$given);
};

$idOf = static fn (array $row): string => $row['message_id'] ?? $row['id'];

$taken = static function (Pamoja $pamoja, array $call) use ($called, $fresh, $idOf): array {
    if (isset($call['pathFrom'])) {
        $call['path'] = [$called($pamoja, $call['pathFrom'])[$call['pathFrom']['field']]];
    }
    if (($call['options']['idempotencyKey'] ?? '') === '$fresh') {
        $call['options']['idempotencyKey'] = $fresh();
    }
    for ($i = 1; $i < ($call['times'] ?? 1); $i++) {
        $called($pamoja, $call);
    }
    $result = $called($pamoja, $call);
    $ids = [];
    switch ($call['take'] ?? '') {
        case 'rows':
            foreach ($result as $row) {
                $ids[] = $idOf($row);
            }
            return ['ids' => $ids];
        case 'array':
            return ['ids' => array_map($idOf, $result->toArray($call['limit']))];
        case 'messages':
            foreach ($result as $message) {
                $ids[] = $message['id'];
                if (count($ids) >= $call['limit']) {
                    break;
                }
            }
            return ['ids' => $ids];
        case 'bytes':
            return ['hex' => bin2hex($result->contents())];
    }
    $value = ($call['take'] ?? '') === 'page' ? $result->page() : $result;
    $info = $value->_response;
    $times = array_keys(array_filter($value->toArray(), static fn (mixed $one): bool => $one instanceof DateTimeImmutable));
    return [
        'value' => count($value) === 0 ? new stdClass() : $value,
        'response' => ['status' => $info->status, 'requestId' => $info->requestId, 'isReplayed' => $info->isReplayed, 'rateLimit' => $info->rateLimit],
        'times' => $times,
    ];
};

$received = static fn (array $hook): array => isset($hook['sign'])
    ? ['value' => Webhooks::verify($hook['sign'], Webhooks::sign($hook['sign'], $hook['secret']), $hook['secret'])]
    : ['value' => Webhooks::verify($hook['body'], $hook['headers'], $hook['secret'], now: $hook['now'])];

$failed = static fn (Throwable $error): array => match (true) {
    $error instanceof WebhookVerificationError => ['reason' => $error->reason],
    $error instanceof PamojaError => ['error' => [
        'kind' => substr($error::class, 7),
        'status' => $error->status,
        'code' => $error->errorCode,
        'message' => $error->getMessage(),
        'details' => $error->details,
        'fields' => $error->fields,
        'requestId' => $error->requestId,
        'docUrl' => $error->docUrl,
        'retryAfter' => $error->retryAfter,
        'idempotencyKey' => $error->idempotencyKey,
    ]],
    default => ['refused' => $error::class . ': ' . $error->getMessage()],
};

foreach ($given['cases'] as $index => $case) {
    $pauses = [];
    try {
        if (isset($case['webhook'])) {
            $outcome = $received($case['webhook']);
        } else {
            $options = $case['client'] ?? [];
            if (isset($options['timeoutMs'])) {
                $options['timeout'] = $options['timeoutMs'] / 1000;
            }
            $at = $case['at'] ?? '';
            $pamoja = $at === 'sandbox'
                ? new Pamoja(['baseUrl' => $given['sandbox'], 'apiKey' => $given['key']])
                : new Pamoja([
                    'baseUrl' => $at === 'nowhere' ? $given['nowhere'] : "{$given['bad']}/$index",
                    'apiKey' => 'pmj_test_of_the_cases',
                    'sleep' => static function (float $seconds) use (&$pauses): void {
                        $pauses[] = $seconds;
                    },
                ] + $options);
            $outcome = $taken($pamoja, $case['call']);
        }
    } catch (Throwable $error) {
        $outcome = $failed($error);
    }
    echo json_encode($outcome + ['pauses' => $pauses], JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR), "\n";
}
