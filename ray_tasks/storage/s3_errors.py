"""What an S3 error means: whether trying again may help, and what a person can do about it."""

from __future__ import annotations

from typing import Final

from ray_tasks.errors import DaybookError
from ray_tasks.storage.retrying import ExhaustedError
from ray_tasks.storage.store import ConflictError, MissingObjectError, StoreError

TRANSIENT_STATUS: Final = frozenset({429, 500, 502, 503, 504})
TRANSIENT_CODES: Final = frozenset(
    {
        "BadDigest",  # the body was damaged on its way
        "ConditionalRequestConflict",
        "IncompleteBody",
        "InternalError",
        "OperationAborted",
        "RequestLimitExceeded",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
    }
)

_CREDENTIAL_CODES: Final = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidToken",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
    }
)
_REGION_CODES: Final = frozenset(
    {"301", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect"}
)
_CREDENTIALS_REMEDY: Final = (
    "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run on a machine with an instance profile"
)


class StoreAccessError(StoreError):
    """The store cannot be used as it is configured (credentials, bucket, permissions); trying again does not help."""

    exit_code = 2


class CutBodyError(Exception):
    """Fewer bytes of an object came than were announced."""


def code_of(error: Exception) -> str:
    """S3's error code, such as ``NoSuchKey``; the HTTP status where an answer had no body; empty for other errors."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def status_of(error: Exception) -> int:
    """The HTTP status of an answer; 0 where there was none."""
    response = getattr(error, "response", None)
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) if isinstance(response, dict) else 0


def is_transient(error: Exception) -> bool:
    """Whether the same request may succeed a little later: overload, resets, time-outs and cut bodies."""
    from botocore import exceptions
    from botocore.parsers import ResponseParserError
    from urllib3.exceptions import HTTPError

    if isinstance(error, exceptions.ClientError):
        return status_of(error) in TRANSIENT_STATUS or code_of(error) in TRANSIENT_CODES
    if isinstance(error, exceptions.SSLError):
        return "CERTIFICATE_VERIFY_FAILED" not in str(error)
    kinds = (
        CutBodyError,
        exceptions.HTTPClientError,
        exceptions.ConnectionError,
        exceptions.IncompleteReadError,
        exceptions.ChecksumError,
        exceptions.FlexibleChecksumError,
        ResponseParserError,  # half an answer
        # what botocore lets through where a body breaks off while it is read
        HTTPError,
        ConnectionError,
        TimeoutError,
    )
    return isinstance(error, kinds)


def explain(error: Exception, verb: str, key: str, url: str) -> DaybookError:
    """The error that a person sees for what botocore or the retries raised; names object, store, cause and remedy."""
    what = f"cannot {verb} {key} in {url}"
    if isinstance(error, ExhaustedError):
        bound = f"{error.attempts} attempts in {error.seconds:.1f} s, the last ended with {_cause(error.last)}"
        return StoreError(f"{what}: {bound}; {_remedy_for_silence(error.last)}")
    code, status = code_of(error), status_of(error)
    if code in {"NoSuchKey", "404"}:
        return MissingObjectError(f"there is no {key} in {url}")
    if code == "NoSuchUpload":
        return MissingObjectError(f"the upload of {key} in {url} was aborted by somebody else; run the command again")
    if code == "PreconditionFailed" or status == 412:
        return ConflictError(f"{key} in {url} was changed by somebody else")
    remedy = _remedy(error, code, status)
    if remedy:
        return StoreAccessError(f"{what}: {_cause(error)}; {remedy}")
    return StoreError(f"{what}: {_cause(error)}")


def _cause(error: Exception) -> str:
    code = code_of(error)
    if not code:
        return f"{type(error).__name__}: {error}"
    message = getattr(error, "response", {}).get("Error", {}).get("Message", "")
    return f"{code} (HTTP {status_of(error)}){f': {message}' if message and message != code else ''}"


def _remedy_for_silence(error: Exception) -> str:
    if status_of(error):
        return "the store is overloaded or down: run the same command again later, finished shards are kept"
    return "check the network and the endpoint (AWS_ENDPOINT_URL_S3), then run the same command again"


def _remedy(error: Exception, code: str, status: int) -> str:
    from botocore import exceptions

    credential_kinds = (
        exceptions.NoCredentialsError,
        exceptions.PartialCredentialsError,
        exceptions.CredentialRetrievalError,
        exceptions.MetadataRetrievalError,
        exceptions.ProfileNotFound,
        exceptions.SSOError,
        exceptions.TokenRetrievalError,
    )
    if isinstance(error, credential_kinds) or code in _CREDENTIAL_CODES:
        return _CREDENTIALS_REMEDY
    if code in {"NoSuchBucket", "InvalidBucketName"}:
        return "create the bucket or correct the URL"
    if code in _REGION_CODES:
        return "the bucket is in another region: set AWS_DEFAULT_REGION to it"
    if code == "RequestTimeTooSkewed":
        return "set this machine's clock"
    if status == 501:
        return "this S3 server lacks what is needed, conditional writes for example: use another one"
    if isinstance(error, exceptions.SSLError):
        return "its certificate is not trusted: set AWS_CA_BUNDLE to the right authority"
    if status == 403:
        return (
            "grant s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on its objects and "
            "s3:ListBucket and s3:ListBucketMultipartUploads on the bucket (without s3:ListBucket, S3 answers 403 for "
            "an object that is absent)"
        )
    return ""
