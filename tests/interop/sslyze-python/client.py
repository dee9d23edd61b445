"""Scans a gateway's TLS with sslyze, and holds it against Mozilla's "intermediate" configuration.

    client.py PORT [open]

Prints what was found, as JSON. Exits with 1 and the reasons if something is not as it should be. With `open`, the server is not a
gateway but one that must be found at fault: then the exit code is 0 if it is.
"""

import json
import sys

from sslyze import (
    RobotScanResultEnum,
    ScanCommand,
    ScanCommandAttemptStatusEnum,
    Scanner,
    ServerNetworkConfiguration,
    ServerNetworkLocation,
    ServerScanRequest,
    ServerScanStatusEnum,
)
from sslyze.mozilla_tls_profile.tls_config_checker import (
    SCAN_COMMANDS_NEEDED_BY_MOZILLA_CHECKER,
    MozillaTlsConfiguration,
    ServerNotCompliantWithTlsConfiguration,
    TlsConfigurationEnum,
    check_server_against_tls_configuration,
)

VERSIONS = ["ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1", "tls_1_2", "tls_1_3"]
# Beyond what the configuration needs.
MORE = {ScanCommand.TLS_1_3_EARLY_DATA, ScanCommand.SESSION_RESUMPTION}


def scanned(port):
    where = ServerNetworkLocation(hostname="localhost", port=port, ip_address="127.0.0.1")
    how = ServerNetworkConfiguration(tls_server_name_indication="localhost", network_timeout=60)
    scanner = Scanner(concurrent_server_scans_limit=1)
    commands = SCAN_COMMANDS_NEEDED_BY_MOZILLA_CHECKER | MORE
    scanner.queue_scans([ServerScanRequest(server_location=where, network_configuration=how, scan_commands=commands)])
    (result,) = scanner.get_results()
    if result.scan_status != ServerScanStatusEnum.COMPLETED:
        sys.exit(f"the scan did not complete: {result.connectivity_error_trace}")
    for command in commands:
        attempt = getattr(result.scan_result, command.value)
        if attempt.status != ScanCommandAttemptStatusEnum.COMPLETED:
            sys.exit(f"{command.value}: {attempt.error_reason} {attempt.error_trace}")
    return result


def summary(result):
    of = result.scan_result
    suites = {version: getattr(of, f"{version}_cipher_suites").result.accepted_cipher_suites for version in VERSIONS}
    renegotiation = of.session_renegotiation.result
    return {
        "suites": {version: sorted(one.cipher_suite.name for one in found) for version, found in suites.items() if found},
        "curves": sorted(curve.name for curve in of.elliptic_curves.result.supported_curves or []),
        "compression": of.tls_compression.result.supports_compression,
        "client_renegotiation_dos": renegotiation.is_vulnerable_to_client_renegotiation_dos,
        "secure_renegotiation": renegotiation.supports_secure_renegotiation,
        "heartbleed": of.heartbleed.result.is_vulnerable_to_heartbleed,
        "robot": of.robot.result.robot_result in (
            RobotScanResultEnum.VULNERABLE_STRONG_ORACLE,
            RobotScanResultEnum.VULNERABLE_WEAK_ORACLE,
        ),
        "ccs_injection": of.openssl_ccs_injection.result.is_vulnerable_to_ccs_injection,
        "fallback_scsv": of.tls_fallback_scsv.result.supports_fallback_scsv,
        "extended_master_secret": of.tls_extended_master_secret.result.supports_ems_extension,
        "early_data": of.tls_1_3_early_data.result.supports_early_data,
    }


def issues(result, told):
    """What the configuration finds wrong, and what it does not look at."""
    found = {}
    try:
        check_server_against_tls_configuration(result, MozillaTlsConfiguration.get(TlsConfigurationEnum.MOZILLA_INTERMEDIATE))
    except ServerNotCompliantWithTlsConfiguration as error:
        found.update(error.issues)
    # A certificate that a test has made is issued by nobody whom sslyze trusts.
    found.pop("certificate_path_validation", None)
    for name in ("client_renegotiation_dos", "robot", "early_data"):
        if told[name]:
            found[name] = "is there"
    for version, names in told["suites"].items():
        weak = [name for name in names if not name.startswith("TLS_AES_") and "ECDHE" not in name and "CHACHA20" not in name]
        if weak:
            found[f"forward secrecy {version}"] = ", ".join(weak)
    return found


def main():
    port, must_fail = int(sys.argv[1]), sys.argv[2:] == ["open"]
    result = scanned(port)
    told = summary(result)
    told["issues"] = issues(result, told)
    print(json.dumps(told, indent=1))
    if bool(told["issues"]) != must_fail:
        sys.exit(f"not as it should be: {told['issues'] or 'nothing was found'}")


main()
